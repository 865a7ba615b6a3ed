// Parquet's encodings, with known answers from the specification, and refusals. No native code runs here.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Contradiction } from '../../../lib/table/contradiction.ts';
import { Inexact, type NumberLayout, readNumbers } from '../../../lib/table/numbers.ts';
import { DeltaValues } from '../../../lib/table/parquet/delta.ts';
import { HybridReader } from '../../../lib/table/parquet/hybrid.ts';
import { BooleanValues } from '../../../lib/table/parquet/values.ts';
import fc from '../../harness/properties.ts';

const refuses = (work: () => unknown, says: string) =>
  assert.throws(work, (error: unknown) => error instanceof Contradiction && error.message.includes(says), says);

const hybrid = (bytes: readonly number[], width: number, count: number, step = count) => {
  const reader = new HybridReader(Uint8Array.from(bytes), 0, bytes.length, width, count, 'indices');
  const found: number[] = [];
  const out = new Int32Array(count);
  for (let left = count; left > 0; left -= step) {
    const taken = Math.min(step, left);
    reader.read(out, taken);
    found.push(...out.subarray(0, taken));
  }
  reader.finish();
  return found;
};

test('Runs and packed numbers are read, in steps of any size.', () => {
  // The example of the specification: 0 to 7 in three bits.
  const packed = [3, 0b10001000, 0b11000110, 0b11111010];
  for (const step of [1, 3, 8]) assert.equal(hybrid(packed, 3, 8, step), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.equal(hybrid([10, 5, ...packed], 3, 13, 4), [5, 5, 5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 7]);
  assert.equal(hybrid([3, 255, 255, 255, 255, ...new Array<number>(28).fill(1)], 32, 2, 1), [-1, 16843009]);
  refuses(() => hybrid([10, 5], 3, 4), '(5) long where (4)');
  refuses(() => hybrid([0, 5], 3, 4), 'is empty');
  refuses(() => hybrid([8, 9], 3, 4), '(9) in (3) bits');
  refuses(() => hybrid([3, 1, 2], 3, 8), 'end before all are read');
  refuses(() => hybrid([8, 1, 0], 3, 4), '(1) bytes follow');
  refuses(() => hybrid([255, 255, 255, 255, 255, 1], 3, 4), 'more than (5) bytes');
});

test('Booleans in runs are read, after the length of their bytes.', () => {
  const read = (bytes: readonly number[], count: number) => {
    const values = new BooleanValues(Uint8Array.from([9, ...bytes]), 1, count);
    const out = new Float32Array(count);
    for (let at = 0; at < count; at++) values.read(out, at, 1);
    values.finish();
    return Array.from(out);
  };
  assert.equal(read([4, 0, 0, 0, 6, 1, 3, 0b00000101], 6), [1, 1, 1, 1, 0, 1]);
  refuses(() => read([4, 0, 0, 0, 6, 1], 3), 'states (4) bytes, and has (2)');
  refuses(() => read([2, 0], 3), 'does not say its length');
  refuses(() => read([2, 0, 0, 0, 6, 2], 3), '(2) in (1) bits');
});

const int32: NumberLayout = { kind: 'int', bits: 32, bytes: 4 };
const int64: NumberLayout = { kind: 'int', bits: 64, bytes: 8 };

/** Delta encoding as in the specification, in blocks of 128. */
function encoded(values: readonly bigint[]): Uint8Array {
  const bytes: number[] = [];
  const varint = (value: bigint) => {
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 128n; rest /= 128n) bytes.push(Number(rest % 128n) | 128);
    bytes.push(Number(rest));
  };
  const zigzag = (value: bigint) => varint(value >= 0n ? 2n * value : -2n * value - 1n);
  varint(128n);
  varint(4n);
  varint(BigInt(values.length));
  zigzag(values[0]!);
  const steps = values.slice(1).map((value, i) => BigInt.asIntN(64, value - values[i]!));
  for (let at = 0; at < steps.length; at += 128) {
    const block = steps.slice(at, at + 128);
    const least = block.reduce((a, b) => (a < b ? a : b));
    zigzag(least);
    const parts = [0, 32, 64, 96].map((from) =>
      block.slice(from, from + 32).map((step) => BigInt.asUintN(64, step - least)),
    );
    const widths = parts.map((part) => part.reduce((most, each) => Math.max(most, each.toString(2).length), 0));
    bytes.push(...widths);
    parts.forEach((part, i) => {
      if (part.length === 0) return;
      let all = 0n;
      part.forEach((each, place) => {
        all |= each << BigInt(place * widths[i]!);
      });
      for (let byte = 0; byte < 4 * widths[i]!; byte++) bytes.push(Number((all >> BigInt(8 * byte)) & 255n));
    });
  }
  return Uint8Array.from(bytes);
}

test('Differences of 64-bit integers are read exactly, even if they wrap.', () => {
  const whole = fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n });
  fc.assert(
    fc.property(fc.array(whole, { minLength: 1, maxLength: 300 }), fc.integer({ min: 1, max: 50 }), (values, step) => {
      const reader = new DeltaValues(encoded(values), 0, int64, values.length);
      const out = new Float64Array(values.length);
      for (let at = 0; at < values.length; at += step) reader.read(out, at, Math.min(step, values.length - at));
      reader.finish();
      assert.equal(Array.from(out), values.map(Number));
    }),
  );
  const bytes = encoded([1n, 2n, 3n]);
  refuses(() => new DeltaValues(bytes, 0, int32, 4), 'a page of (4) numbers has (3)');
  refuses(() => new DeltaValues(bytes.subarray(0, 6), 0, int32, 3).read(new Float64Array(3), 0, 3), 'ends before');
  refuses(() => {
    const reader = new DeltaValues(Uint8Array.from([...bytes, 0]), 0, int32, 3);
    reader.read(new Float64Array(3), 0, 3);
    reader.finish();
  }, '(1) bytes follow');
});

test('An integer that float64 cannot hold is refused with its place; so is a number beyond its type.', () => {
  const bytes = new Uint8Array(BigInt64Array.of(1n, 2n ** 53n + 1n).buffer);
  const out = new Float64Array(2);
  assert.throws(
    () => readNumbers(bytes, 0, int64, out, 0, 2),
    (error: unknown) => error instanceof Inexact && error.index === 1 && error.value === 2n ** 53n + 1n,
  );
  const wide = new Uint8Array(Int32Array.of(300).buffer);
  refuses(() => readNumbers(wide, 0, { kind: 'uint', bits: 8, bytes: 4 }, out, 0, 1), '(300) is beyond its type');
  const halves = new Uint8Array(Uint16Array.of(0x3c00, 0xc000, 0x0001, 0x7c00, 0x7bff).buffer);
  const five = new Float32Array(5);
  readNumbers(halves, 0, { kind: 'float', bits: 16, bytes: 2 }, five, 0, 5);
  assert.equal(Array.from(five), [1, -2, 2 ** -24, Infinity, 65504]);
});

test.run();
