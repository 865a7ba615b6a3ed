import { Storage } from '../array/storage.ts';
import type { Encoder } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import type { Scratch } from '../command/scratch.ts';
import { type Dtype, dtypeOf, type Real } from '../dtype.ts';

/** Allocates storage of these lengths, all or none. */
export type Allocate = (lengths: readonly number[]) => Storage[];

/** Allocates where commands of a device in `dtype` read. */
export function onDevice(device: OpenBackend, dtype: Dtype): Allocate {
  return (lengths) => Storage.allInside(device, dtype, lengths);
}

/** Allocates in ordinary memory, in float64. */
export function inMemory(lengths: readonly number[]): Storage[] {
  return lengths.map((length) => new Storage(new Float64Array(length)));
}

/** Stores the numbers of a factor, computed in float64 on the host, each part in its own storage. */
export function kept<Part extends string>(
  numbers: { readonly [Each in Part]: Float64Array },
  allocate: Allocate,
): { readonly [Each in Part]: Storage } {
  const names = Object.keys(numbers) as Part[];
  const made = allocate(names.map((name) => numbers[name].length));
  const storages = {} as { [Each in Part]: Storage };
  names.forEach((name, i) => {
    made[i]!.values.set(numbers[name]);
    storages[name] = made[i]!;
  });
  return storages;
}

const blockElements = 1 << 21;

/** Rows of a block, if each row takes n numbers and `width` more. */
export function rowsAtOnce(n: number, width: number): number {
  return Math.max(1, Math.floor(blockElements / Math.max(n, width)));
}

/** Calls body for blocks of `atOnce` rows of n numbers, which bounds the intermediate memory. */
export function forRowBlocks(
  rows: Real,
  n: number,
  atOnce: number,
  body: (block: Real, count: number, first: number) => void,
): void {
  for (let first = 0; first < rows.length / n; first += atOnce) {
    const count = Math.min(atOnce, rows.length / n - first);
    body(rows.subarray(first * n, (first + count) * n), count, first);
  }
}

/** out[r] = constant - |w|^2 / 2 for each row w of n numbers. */
export function norms(encoder: Encoder, w: Real, out: Real, n: number, constant: number, scratch: Scratch): void {
  const dtype = dtypeOf(out);
  encoder.squaredNorms(w, out, n);
  encoder.scaleColumns(out, scratch.copy(new Float64Array([-0.5]), dtype));
  encoder.addRow(out, scratch.copy(new Float64Array([1]), dtype), constant);
}
