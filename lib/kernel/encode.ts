import { quoted } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { bytesOfScalar, type Layout } from './layout.ts';

type Put = (view: DataView, at: number, value: number) => void;
type Scalar = readonly [least: number, most: number, put: Put];

const whole = (bits: number, signed: boolean, put: Put): Scalar =>
  signed ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, put] : [0, 2 ** bits - 1, put];

const scalars: { readonly [scalar: string]: Scalar } = {
  bool: [0, 1, (view, at, value) => view.setUint8(at, value)],
  char: whole(8, true, (view, at, value) => view.setInt8(at, value)),
  uchar: whole(8, false, (view, at, value) => view.setUint8(at, value)),
  short: whole(16, true, (view, at, value) => view.setInt16(at, value, true)),
  ushort: whole(16, false, (view, at, value) => view.setUint16(at, value, true)),
  int: whole(32, true, (view, at, value) => view.setInt32(at, value, true)),
  uint: whole(32, false, (view, at, value) => view.setUint32(at, value, true)),
};

/** Types of real numbers: the largest finite number, and how one is written. */
const reals: { readonly [scalar: string]: readonly [most: number, put: Put] } = {
  float: [(2 - 2 ** -23) * 2 ** 127, (view, at, value) => view.setFloat32(at, value, true)],
  half: [65504, (view, at, value) => view.setUint16(at, shortened(value, 10, -14), true)],
  bfloat: [(2 - 2 ** -7) * 2 ** 127, (view, at, value) => view.setUint16(at, shortened(value, 7, -126), true)],
};

/** The bits of the nearest number of 16 bits, ties to even, with so many of them behind the point. */
function shortened(value: number, fractionBits: number, leastExponent: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  const infinity = 0x8000 - 2 ** fractionBits;
  if (Number.isNaN(value)) return infinity + 2 ** (fractionBits - 1);
  if (size === Number.POSITIVE_INFINITY) return sign + infinity;
  const exponent = Math.max(leastExponent, size === 0 ? leastExponent : Math.floor(Math.log2(size)));
  const exact = size / 2 ** (exponent - fractionBits);
  const below = Math.floor(exact);
  const isUp = exact - below > 0.5 || (exact - below === 0.5 && below % 2 === 1);
  // The leading bit of a normal number counts its exponent up by one.
  return sign + Math.min(below + Number(isUp) + (exponent - leastExponent) * 2 ** fractionBits, infinity);
}

const longs: { readonly [scalar: string]: readonly [bigint, bigint] } = {
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  ulong: [0n, 2n ** 64n - 1n],
};

/**
 * The bytes of a number, an array or a plain object, in Metal's layout. `name` is its place, such as `params.size[2]`.
 * Throws `ERR_INVALID_ARGUMENT` (not a number, a missing or unknown field, another length), `ERR_OUT_OF_RANGE`,
 * `ERR_UNSUPPORTED`.
 */
export function encode(value: unknown, layout: Layout, name: string): ArrayBuffer {
  const bytes = new ArrayBuffer(layout.sizeBytes);
  put(new DataView(bytes), 0, value, layout, name);
  return bytes;
}

/** Writes a value at a place of `view`; see {@link encode}. */
function put(view: DataView, at: number, value: unknown, layout: Layout, name: string): void {
  if (layout.members !== undefined) putStruct(view, at, value, layout, name);
  else if (layout.element !== undefined) putEach(view, at, value, layout.element, layout.length!, name);
  else if (layout.count === 1) putNumber(view, at, value, layout.scalar!, name);
  else {
    // The padding of a vector of three stays 0.
    const sizeBytes = layout.sizeBytes / Math.round(layout.sizeBytes / bytesOfScalar(layout.scalar!));
    const element = { type: layout.scalar!, scalar: layout.scalar!, count: 1, sizeBytes, alignBytes: sizeBytes };
    putEach(view, at, value, element, layout.count!, name);
  }
}

function putStruct(view: DataView, at: number, value: unknown, { type, members }: Layout, name: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || ArrayBuffer.isView(value))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Argument (${name}) is a struct (${type}), not (${quoted(value)}); its fields are (${fieldsOf(members!)}).`,
    );
  const given = value as { readonly [field: string]: unknown };
  for (const field of Object.keys(given))
    if (!members!.some((member) => member.name === field))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Struct (${type}) of argument (${name}) has no field (${field}); its fields are (${fieldsOf(members!)}).`,
      );
  for (const member of members!) {
    if (!Object.hasOwn(given, member.name))
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Field (${member.name}) of argument (${name}) is missing: struct (${type}) has (${fieldsOf(members!)}), but the object has (${Object.keys(given).join(', ')}).`,
      );
    put(view, at + member.offsetBytes, given[member.name], member.layout, `${name}.${member.name}`);
  }
}

function fieldsOf(members: NonNullable<Layout['members']>): string {
  return members.map(({ name, layout }) => `${layout.type} ${name}`).join(', ');
}

function putEach(view: DataView, at: number, value: unknown, element: Layout, length: number, name: string): void {
  if (!Array.isArray(value) && !(ArrayBuffer.isView(value) && 'length' in value))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Argument (${name}) takes an array of (${length}) of type (${element.type}), not (${quoted(value)}).`,
    );
  const values = value as ArrayLike<unknown>;
  if (values.length !== length)
    throw new CovariumError('ERR_SHAPE', `Argument (${name}) takes (${length}) elements, not (${values.length}).`);
  for (let i = 0; i < length; i++) put(view, at + i * element.sizeBytes, values[i], element, `${name}[${i}]`);
}

function putNumber(view: DataView, at: number, value: unknown, scalar: string, name: string): void {
  const plain = scalar === 'bool' && typeof value === 'boolean' ? Number(value) : value;
  const range = longs[scalar];
  if (range !== undefined) {
    putLong(view, at, plain, scalar, range, name);
    return;
  }
  const real = reals[scalar];
  const known = real === undefined ? scalars[scalar] : ([-real[0], ...real] as const);
  if (known === undefined)
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      `Argument (${name}) has a type that cannot be passed as numbers (${scalar}); pass bytes.`,
    );
  const [least, most, write] = known;
  if (typeof plain !== 'number')
    throw new CovariumError('ERR_INVALID_ARGUMENT', `Argument (${name}) is a (${scalar}), not (${quoted(value)}).`);
  if (real === undefined && (!Number.isInteger(plain) || plain < least || plain > most))
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `Argument (${name}) is (${plain}), not a whole number of type (${scalar}), from ${least} to ${most}.`,
    );
  const largest = scalar === 'float' ? Math.abs(Math.fround(plain)) : Math.abs(plain);
  if (real !== undefined && Number.isFinite(plain) && largest > most)
    throw new CovariumError('ERR_OUT_OF_RANGE', `Argument (${name}) is (${plain}), beyond the range of a ${scalar}.`);
  write(view, at, plain);
}

function putLong(
  view: DataView,
  at: number,
  value: unknown,
  scalar: string,
  [least, most]: readonly [bigint, bigint],
  name: string,
): void {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value))
    throw new CovariumError(
      typeof value === 'number' ? 'ERR_OUT_OF_RANGE' : 'ERR_INVALID_ARGUMENT',
      `Argument (${name}) is a (${scalar}), a bigint or a whole number up to 2^53 - 1, not (${quoted(value)}).`,
    );
  const exact = BigInt(value as bigint | number);
  if (exact < least || exact > most)
    throw new CovariumError('ERR_OUT_OF_RANGE', `Argument (${name}) is (${exact}), beyond the range of a ${scalar}.`);
  view.setBigInt64(at, BigInt.asIntN(64, exact), true);
}
