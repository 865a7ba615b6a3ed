import type { Problem } from './contender.ts';
import type { Limit } from './results.ts';

/** Milliseconds of getting ready, and of one run. */
export interface Cost {
  readonly setupMs: number;
  readonly runMs: number;
}

/** What took less is overhead and cold code for the most part, and says nothing of larger sizes. */
export const tellingMs = 100;

// No overhead is longer.
const mostOverheadMs = 300;

/** Foresees what a contender will take for a problem, from its limit and from what it took for the same case at another size. */
export class CostForecast {
  readonly #known = new Map<string, { readonly problem: Problem; readonly cost: Cost }[]>();
  readonly #limits: ReadonlyMap<string, Limit>;

  constructor(limits: readonly Limit[]) {
    this.#limits = new Map(limits.map((limit) => [limit.contender, limit]));
  }

  note(contender: string, problem: Problem, cost: Cost): void {
    const key = keyOf(contender, problem);
    this.#known.set(key, [...(this.#known.get(key) ?? []), { problem, cost }]);
  }

  /** Whether it has run the case at any size. */
  knows(contender: string, problem: Problem): boolean {
    return this.#known.has(keyOf(contender, problem));
  }

  /** At least what the limit asks for; nothing where neither a limit nor another size is known. */
  foresee(contender: string, problem: Problem): Cost {
    const limit = this.#limits.get(contender);
    const { flops, normals } = problem.work;
    const least = limit ? 1000 * (flops / limit.flopsPerSecond + normals / limit.normalsPerSecond) : 0;
    const known = this.#known.get(keyOf(contender, problem)) ?? [];
    const points = (work: (of: Problem) => number, part: keyof Cost) =>
      known.map(({ problem: other, cost }) => ({ work: work(other), ms: cost[part] }));
    return {
      // Making a distribution ready is a factorization, or two.
      setupMs: extrapolated(points(cubed, 'setupMs'), cubed(problem), mostOverheadMs),
      runMs: Math.max(least, extrapolated(points(amount, 'runMs'), amount(problem))),
    };
  }
}

/**
 * The line through the two largest works known: every cost begins with an overhead, which a small size shows; `stallMs` of it may have come
 * later, in what was done only once.
 */
function extrapolated(points: readonly { readonly work: number; readonly ms: number }[], work: number, stallMs = 0) {
  const sorted = [...points].sort((a, b) => b.work - a.work);
  const [last] = sorted;
  if (last === undefined || last.ms < tellingMs || work <= last.work) return 0;
  const before = sorted.find((point) => point.work < last.work) ?? { work: 0, ms: Math.min(last.ms, mostOverheadMs) };
  const growth = last.ms - Math.max(before.ms, Math.min(last.ms, stallMs));
  return last.ms + (Math.max(0, growth) / (last.work - before.work)) * (work - last.work);
}

function cubed({ dimension }: Problem): number {
  return (dimension ?? 1) ** 3;
}

// A normal and a byte in floating-point operations, roughly.
function amount({ work: { flops, bytes, normals } }: Problem): number {
  return flops + 20 * normals + bytes || 1;
}

function keyOf(contender: string, { suite, case: name }: Problem): string {
  return JSON.stringify([contender, suite, name]);
}
