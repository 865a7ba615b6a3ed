// A digit takes as much of a panel, at the size that a phone shows it.
const digitPixels = 9;

/** As many ticks (up to 5) as have room beside each other along `side` pixels. */
export function ticksThatFit(low: number, high: number, side: number): number[] {
  for (let count = 5; ; count--) {
    const found = ticks(low, high, count);
    const letters = found.map((value) => tickText(value).length).reduce((sum, length) => sum + length, 0);
    if (count === 1 || letters * digitPixels <= side) return found;
  }
}

/** Up to `count` round numbers from `low` to `high`: multiples of 1, 2 or 5 times a power of ten. */
export function ticks(low: number, high: number, count: number): number[] {
  for (let exponent = Math.floor(Math.log10((high - low) / count)) - 1; ; exponent++)
    for (const factor of [1, 2, 5]) {
      // Dividing by a power that is whole gives the double that the decimal means; multiplying by 0.1 does not.
      const times = (value: number) => (exponent < 0 ? value / 10 ** -exponent : value * 10 ** exponent);
      const step = times(factor);
      const first = Math.ceil(low / step);
      const steps = Math.floor(high / step) - first;
      if (steps < count) return Array.from({ length: Math.max(0, steps + 1) }, (_, i) => times((first + i) * factor));
    }
}

/** A number beside its tick: short, with a minus sign as wide as a digit. */
export function tickText(value: number): string {
  const size = Math.abs(value);
  const text =
    size === 0 || (size >= 1e-3 && size < 1e6)
      ? value.toLocaleString('en', { maximumSignificantDigits: 12 })
      : Number(value.toPrecision(12)).toExponential().replace('e+', 'e');
  return text.replaceAll('-', '\u2212');
}
