import type { Measurement, Results } from './results.ts';

/** Where one contender overtakes another as the dimension grows, in one case at one count. */
export interface Crossover {
  readonly suite: string;
  readonly case: string;
  readonly dtype: Measurement['dtype'];
  readonly count: number | null;
  /** The faster one at smaller dimensions. */
  readonly slower: string;
  /** The faster one at larger dimensions: it overtakes the other. */
  readonly faster: string;
  /** Where the two take the same time: the lines between neighbouring sizes, on log-log axes, meet. */
  readonly dimension: number;
}

interface Point {
  readonly dimension: number;
  readonly median: number;
}

/**
 * Every crossover of two contenders' medians, by suite, case, dtype and count in the order of the results, then by
 * dimension.
 */
export function crossovers({ measurements }: Pick<Results, 'measurements'>): Crossover[] {
  return [...linesOf(measurements).values()].flatMap((lines) => {
    const [{ suite, case: name, dtype, count }] = [...lines.values()][0] as [Measurement];
    const contenders = [...lines.keys()];
    return contenders
      .flatMap((one, i) =>
        contenders
          .slice(i + 1)
          .flatMap((other) => meetings(points(lines.get(one)!), points(lines.get(other)!), one, other)),
      )
      .map((meeting) => ({ suite, case: name, dtype, count, ...meeting }))
      .sort((a, b) => a.dimension - b.dimension);
  });
}

/** Timed measurements with a dimension, by suite, case, dtype and count, then by contender. */
function linesOf(measurements: readonly Measurement[]): Map<string, Map<string, Measurement[]>> {
  const groups = new Map<string, Map<string, Measurement[]>>();
  for (const each of measurements) {
    if (each.time === null || each.dimension === null) continue;
    const key = JSON.stringify([each.suite, each.case, each.dtype, each.count]);
    const lines = groups.get(key) ?? new Map<string, Measurement[]>();
    groups.set(key, lines.set(each.contender, [...(lines.get(each.contender) ?? []), each]));
  }
  return groups;
}

function points(line: readonly Measurement[]): Point[] {
  return line
    .map(({ dimension, time }) => ({ dimension: dimension!, median: time!.median }))
    .sort((a, b) => a.dimension - b.dimension);
}

/**
 * Sizes at which both take the same time do not end a lead: if the other contender leads after them, that is one
 * crossover.
 */
function meetings(ones: readonly Point[], others: readonly Point[], one: string, other: string) {
  const shared = ones.flatMap(({ dimension, median }) => {
    const match = others.find((point) => point.dimension === dimension);
    // Above 0, the first is slower.
    return match === undefined ? [] : [{ at: Math.log(dimension), lag: Math.log(median) - Math.log(match.median) }];
  });
  const led = shared.filter(({ lag }) => lag !== 0);
  return led.slice(1).flatMap((right, i) => {
    const left = led[i]!;
    if (left.lag > 0 === right.lag > 0) return [];
    const at = left.at + ((right.at - left.at) * left.lag) / (left.lag - right.lag);
    const [slower, faster] = left.lag < 0 ? [one, other] : [other, one];
    return [{ slower, faster, dimension: Math.exp(at) }];
  });
}
