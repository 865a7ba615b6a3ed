import { isReadable } from '../array/host-memory.ts';
import { Storage } from '../array/storage.ts';
import type { OpenBackend } from '../backend-handle.ts';
import type { Dtype, Real, Values } from '../dtype.ts';

/**
 * What the commands of one commit read and write besides what it gives: made where the device wants it, and closed
 * afterwards.
 */
export class Scratch {
  readonly #device: OpenBackend;
  readonly #made: Storage[] = [];
  readonly #afterwards: (() => void)[] = [];
  /** The caller's own arrays among it: they stay where they are until the commit is over. */
  readonly reachable: Values[] = [];

  constructor(device: OpenBackend) {
    this.#device = device;
  }

  /**
   * The numbers of `values` as `dtype`: the caller's own array where a device may read it, else a copy. Throws
   * `ERR_CLOSED`.
   */
  input(values: Values, dtype: Dtype): Real {
    if (!isReadable(values, dtype)) return this.copy(values, dtype);
    this.reachable.push(values);
    return values as Real;
  }

  /** The numbers of `values` as `dtype`, for commands to change. */
  copy(values: Values, dtype: Dtype): Real {
    const copy = this.#make(dtype, values.length);
    copy.set(values);
    return copy;
  }

  zeros(dtype: Dtype, length: number): Real {
    return this.#make(dtype, length).fill(0);
  }

  /** The host's part of a command, for when the commit has run: before what the task itself does then. */
  after(work: () => void): void {
    this.#afterwards.push(work);
  }

  /** Does what {@link after} was given. */
  finish(): void {
    for (const work of this.#afterwards) work();
  }

  close(): void {
    for (const storage of this.#made) storage.close();
  }

  #make(dtype: Dtype, length: number): Real {
    const storage = Storage.forResult(this.#device, dtype, length);
    this.#made.push(storage);
    return storage.values as Real;
  }
}
