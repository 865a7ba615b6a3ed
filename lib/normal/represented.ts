import { elementTypeOf } from '../array/foreign.ts';
import { argumentOf, marked } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { dtypeOf, type RealDtype, smallestNormal, type Values } from '../dtype.ts';

/** What a distribution is made of: its type was asked for, or follows from `inputs`. */
interface ChosenType {
  readonly asked: RealDtype | undefined;
  readonly chosen: RealDtype;
  readonly inputs: readonly unknown[];
}

// A draw is rounded to a multiple of float32's step at the mean. Up to this share of a standard deviation that adds
// less than 0.04 % to the variance.
const largestShare = 1 / 16;

/**
 * Throws `ERR_OUT_OF_RANGE` where float32 was not asked for, and its steps at a mean are large beside the standard
 * deviation there. `centre` is the caller's word for the mean, `way` says what to do.
 */
export function requireRepresented(
  { asked, chosen, inputs }: ChosenType,
  mean: Values | undefined,
  variance: (i: number) => number,
  centre: string,
  way = "Pass `dtype: 'float64'`, or subtract a constant.",
): void {
  if (mean === undefined || !isRounding({ asked, chosen, inputs })) return;
  const coarse = coarseMean(mean, variance);
  if (coarse === undefined) return;
  const { at, step, deviation } = coarse;
  throw new CovariumError(
    'ERR_OUT_OF_RANGE',
    `\`${argumentOf(centre)}[${at}]\` is (${mean[at]}) with a standard deviation of (${deviation}), and float32, which was not asked for, has steps of (${step}) there. ${way}`,
  );
}

/** The first mean at which the steps of float32 are large beside the standard deviation; undefined if there is none. */
export function coarseMean(
  mean: ArrayLike<number>,
  variance: (i: number) => number,
): { readonly at: number; readonly step: number; readonly deviation: number } | undefined {
  for (let at = 0; at < mean.length; at++) {
    const deviation = Math.sqrt(variance(at));
    // Most means are far from it, and a step takes a logarithm.
    if (Math.abs(mean[at]!) <= 2 ** 18 * deviation) continue;
    const step = stepAt(mean[at]!);
    if (step > largestShare * deviation && deviation > 0) return { at, step, deviation };
  }
  return undefined;
}

/** True if float32 was not asked for, by a `dtype` or by an input of it. */
export function isRounding({ asked, chosen, inputs }: ChosenType): boolean {
  return asked === undefined && chosen === 'float32' && !inputs.some((input) => elementTypeOf(input) === 'float32');
}

/** How far apart two float32 numbers are at `value`. */
function stepAt(value: number): number {
  return 2 ** (Math.max(-126, Math.floor(Math.log2(Math.abs(value)))) - 23);
}

/**
 * Throws `ERR_OUT_OF_RANGE` at the first of `count` numbers, every `stride`th, that became infinite as it was
 * converted, or that devices take for 0; where it `mayVanish`, not of the latter.
 */
export function requireHeld(
  name: string,
  given: Values,
  held: Values,
  count: number,
  stride: number,
  mayVanish = false,
): void {
  if (given === held && mayVanish) return;
  const dtype = dtypeOf(held) as RealDtype;
  for (let i = 0; i < count; i++) {
    const [before, after] = [given[i * stride]!, held[i * stride]!];
    if (!isLost(before, after, dtype, mayVanish)) continue;
    const place = stride === 1 ? `${i}` : `${i}, ${i}`;
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      dtype === 'float32'
        ? `${marked(name)} entry (${place}) is (${before}), which float32 does not hold. Pass \`dtype: 'float64'\`, or another unit.`
        : `${marked(name)} entry (${place}) is (${before}), which float64 holds with fewer digits. Pass it in another unit.`,
      { row: stride === 1 ? 0 : i, column: i },
    );
  }
}

/** True if a number became infinite as it was converted to `dtype`, or, unless it `mayVanish`, is 0 to devices. */
export function isLost(before: number, after: number, dtype: RealDtype, mayVanish = false): boolean {
  if (!mayVanish && before !== 0 && Math.abs(after) < smallestNormal[dtype]) return true;
  return Number.isFinite(before) && !Number.isFinite(after);
}
