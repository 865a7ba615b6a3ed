// The width of a digit in a panel, at the size that a phone shows it.
const digitPixels = 9;

/** A tick's place, and its label. */
export interface Tick {
  readonly value: number;
  readonly text: string;
}

/**
 * The most ticks, 2 to 5, whose labels fit beside each other along `side` pixels. If not even 2 fit, the outermost of
 * five, because an axis with one number has no scale. Long numbers are shortened (`12K`) if that is exact.
 */
export function ticksThatFit(low: number, high: number, side: number): Tick[] {
  for (const write of [tickText, compactText])
    for (let count = 5; count > 1; count--) {
      const found = ticks(low, high, count).map((value) => ({ value, text: write(value) }));
      const letters = found.reduce((sum, { text }) => sum + text.length + 1, 0);
      if (found.length > 1 && letters * digitPixels <= side) return found;
    }
  const found = ticks(low, high, 5);
  // There may be no round number between subnormal ones.
  const ends = found.length > 1 ? [found[0]!, found.at(-1)!] : [low, high];
  return ends.map((value) => ({ value, text: compactText(value) }));
}

/** Ticks of an axis; their labels count from `base`, which the name of the axis tells where it is not 0. */
export interface Scale {
  readonly base: number;
  readonly ticks: readonly Tick[];
}

// There is room for these at the left of the picture, beside the name.
const longestLabel = 8;

/**
 * The ticks of {@link ticksThatFit}. Where their labels would be long, or equal, as those of milliseconds since 1970
 * within a second, the labels count from a round number in the range.
 */
export function scaleThatFits(low: number, high: number, side: number): Scale {
  const plain = ticksThatFit(low, high, side);
  const texts = plain.map(({ text }) => text);
  const base = ticks(low, high, 2)[0] ?? ticks(low, high, 5)[0];
  const clear = new Set(texts).size === texts.length && texts.every(({ length }) => length <= longestLabel);
  if (clear || base === undefined) return { base: 0, ticks: plain };
  const moved = ticksThatFit(low - base, high - base, side).map(({ value, text }) => ({ value: base + value, text }));
  // Numbers this close to each other have places for few ticks only.
  return { base, ticks: moved.filter(({ value }, i) => i === 0 || value > moved[i - 1]!.value) };
}

/** What the name of an axis ends in: ` − 1.7e12`, with all digits, or nothing where labels count from 0. */
export function baseText(base: number): string {
  if (base === 0) return '';
  const size = Math.abs(base);
  const text = Number(size.toPrecision(12)) === size ? tickText(size) : size.toExponential().replace('e+', 'e');
  return ` ${base > 0 ? '\u2212' : '+'} ${text}`;
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const factors: Readonly<Record<string, number>> = { K: 1e3, M: 1e6 };

/** Writes thousands as K and millions as M if no digit is lost. */
function compactText(value: number): string {
  const text = compact.format(value);
  const factor = factors[text.at(-1)!];
  return factor !== undefined && Number(text.slice(0, -1)) * factor === value
    ? text.replace('-', '\u2212')
    : tickText(value);
}

/** Up to `count` round numbers from `low` to `high`: multiples of 1, 2 or 5 times a power of ten. */
export function ticks(low: number, high: number, count: number): number[] {
  for (let exponent = Math.floor(Math.log10((high - low) / count)) - 1; ; exponent++)
    for (const factor of [1, 2, 5]) {
      // Dividing by a whole power of ten gives the double nearest to the decimal; multiplying by 0.1 does not.
      const times = (value: number) => (exponent < 0 ? value / 10 ** -exponent : value * 10 ** exponent);
      const step = times(factor);
      const first = Math.ceil(low / step);
      const steps = Math.floor(high / step) - first;
      if (steps < count) return Array.from({ length: Math.max(0, steps + 1) }, (_, i) => times((first + i) * factor));
    }
}

/** The label of a tick: short, with a minus sign as wide as a digit. */
export function tickText(value: number): string {
  const size = Math.abs(value);
  const text =
    size === 0 || (size >= 1e-3 && size < 1e6)
      ? value.toLocaleString('en', { maximumSignificantDigits: 12 })
      : Number(value.toPrecision(12)).toExponential().replace('e+', 'e');
  return text.replaceAll('-', '\u2212');
}
