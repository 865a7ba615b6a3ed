import type { Problem } from './contender.ts';
import type { Limit } from './results.ts';

/** Milliseconds of the preparation, and of one run. */
export interface Cost {
  readonly setupMs: number;
  readonly runMs: number;
}

/** A shorter time is mostly overhead and cold code, and does not predict the time of larger sizes. */
export const minimumInformativeMs = 100;

// The longest overhead that is assumed.
const mostOverheadMs = 300;

/** Predicts the cost of a problem for a contender, from its limit and from the cost of the same case at other sizes. */
export class CostForecast {
  readonly #known = new Map<string, { readonly problem: Problem; readonly cost: Cost }[]>();
  readonly #limits: ReadonlyMap<string, Limit>;

  constructor(limits: readonly Limit[]) {
    this.#limits = new Map(limits.map((limit) => [limitKey(limit.contender, limit.dtype), limit]));
  }

  note(contender: string, problem: Problem, cost: Cost): void {
    const key = keyOf(contender, problem);
    this.#known.set(key, [...(this.#known.get(key) ?? []), { problem, cost }]);
  }

  /** True if the contender has run the case at any size. */
  knows(contender: string, problem: Problem): boolean {
    return this.#known.has(keyOf(contender, problem));
  }

  /** At least the time that the limit allows; 0 if neither a limit nor another size is known. */
  foresee(contender: string, problem: Problem): Cost {
    const limit = this.#limits.get(limitKey(contender, problem.dtype));
    const { flops, normals } = problem.work;
    const least = limit ? 1000 * (flops / limit.flopsPerSecond + normals / limit.normalsPerSecond) : 0;
    const known = this.#known.get(keyOf(contender, problem)) ?? [];
    const points = (work: (of: Problem) => number, part: keyof Cost) =>
      known.map(({ problem: other, cost }) => ({ work: work(other), ms: cost[part] }));
    return {
      // Preparing a distribution takes one or two factorizations.
      setupMs: extrapolated(points(cubed, 'setupMs'), cubed(problem), mostOverheadMs),
      runMs: Math.max(least, extrapolated(points(amount, 'runMs'), amount(problem))),
    };
  }
}

/**
 * The cost of `work` on the line through the two largest works known. Every cost includes an overhead, which the
 * smaller of the two shows; up to `stallMs` of the larger one may be an overhead that occurs only once.
 */
function extrapolated(points: readonly { readonly work: number; readonly ms: number }[], work: number, stallMs = 0) {
  const sorted = [...points].sort((a, b) => b.work - a.work);
  const [last] = sorted;
  if (last === undefined || last.ms < minimumInformativeMs || work <= last.work) return 0;
  const before = sorted.find((point) => point.work < last.work) ?? { work: 0, ms: Math.min(last.ms, mostOverheadMs) };
  const growth = last.ms - Math.max(before.ms, Math.min(last.ms, stallMs));
  return last.ms + (Math.max(0, growth) / (last.work - before.work)) * (work - last.work);
}

function cubed({ dimension }: Problem): number {
  return (dimension ?? 1) ** 3;
}

// In floating-point operations: a normal counts as about 20, a byte as one.
function amount({ work: { flops, bytes, normals } }: Problem): number {
  return flops + 20 * normals + bytes || 1;
}

function keyOf(contender: string, { suite, case: name, dtype }: Problem): string {
  return JSON.stringify([contender, suite, name, dtype]);
}

function limitKey(contender: string, dtype: Problem['dtype']): string {
  return JSON.stringify([contender, dtype]);
}
