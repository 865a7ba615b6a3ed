import type { Device } from '../device.ts';
import type { Dtype } from '../dtype.ts';
import { Storage } from '../storage.ts';

/** Makes storage of these lengths, all or none. */
export type Place = (lengths: readonly number[]) => Storage[];

/** Where commands of a device in `dtype` read it. */
export function onDevice(device: Device, dtype: Dtype): Place {
  return (lengths) => Storage.allOnDevice(device, dtype, lengths);
}

/** In ordinary memory, in float64. */
export function inMemory(lengths: readonly number[]): Storage[] {
  return lengths.map((length) => new Storage(new Float64Array(length)));
}

/** The numbers of a factor, computed in float64 on the host, each in a storage of its own. */
export function kept<Part extends string>(
  numbers: { readonly [Each in Part]: Float64Array },
  place: Place,
): { readonly [Each in Part]: Storage } {
  const names = Object.keys(numbers) as Part[];
  const made = place(names.map((name) => numbers[name].length));
  names.forEach((name, i) => {
    made[i]!.values.set(numbers[name]);
  });
  return Object.fromEntries(names.map((name, i) => [name, made[i]!])) as { [Each in Part]: Storage };
}
