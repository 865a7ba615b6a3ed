// Figures as text, with three significant digits: more would be noise.

const rounded = (value: number) => Number(value.toPrecision(3));

/** The value in the largest unit that leaves 1 or more before the point. */
function inUnit(value: number, units: readonly (readonly [number, string])[]): string {
  const short = rounded(value);
  const [size, name] = units.find(([size]) => Math.abs(short) >= size) ?? units.at(-1)!;
  return `${rounded(short / size)} ${name}`;
}

/** A time: `1.07 ms`. */
export function timeText(nanoseconds: number): string {
  return inUnit(nanoseconds, [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'µs'],
    [1, 'ns'],
  ]);
}

/** A rate: `433 GFLOP/s`; `unit` is what is counted, as `FLOP/s` or `B/s`. */
export function rateText(perSecond: number, unit: string): string {
  return inUnit(perSecond, [
    [1e12, `T${unit}`],
    [1e9, `G${unit}`],
    [1e6, `M${unit}`],
    [1e3, `k${unit}`],
    [1, unit],
  ]);
}

/** How many times as fast: `12.3×`. */
export function ratioText(ratio: number): string {
  return `${timesText(ratio)}×`;
}

/** {@link ratioText} for a sentence: `12.3`, before `times as fast`. */
export function timesText(ratio: number): string {
  return `${ratio < 0.0995 ? Number(ratio.toPrecision(2)) : rounded(ratio)}`;
}

/** A part of 1: `82%`, and below a tenth `0.8%`. */
export function shareText(share: number): string {
  const percent = 100 * share;
  return `${percent < 9.95 ? Number(percent.toPrecision(2)) : Math.round(percent)}%`;
}

/** Bytes as megabytes. */
export function memoryText(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

/** A whole number, grouped where it is long: `2048`, `1,000,000`. */
export function numberText(value: number): string {
  return value < 10_000 ? `${value}` : value.toLocaleString('en-GB');
}

/** `dimension 1000, count 100`, without what the case does not have. */
export function sizeText({ dimension, count }: { dimension: number | null; count: number | null }): string {
  const parts = [
    dimension === null ? '' : `dimension ${numberText(dimension)}`,
    count === null ? '' : `count ${numberText(count)}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** `one`, or `7 others`: a number with its noun. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}
