import { isReadable } from '../array/host-memory.ts';
import { Storage } from '../array/storage.ts';
import type { Encoder } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { type Dtype, dtypeOf, type Real, type Values } from '../dtype.ts';

/**
 * From so many numbers on a command copies them, on all threads of the device: the host would hold the event loop.
 */
export const commandNumbers: number = 1 << 18;

/**
 * Whether a command is to copy numbers into memory of `dtype`, which later commands of the CPU read. On `metal` the GPU
 * copies, and they would wait for it.
 */
export function isForCommand(device: OpenBackend, values: Values, dtype: Dtype): boolean {
  return values.length >= commandNumbers && device.kind !== 'metal' && isReadable(values, dtype);
}

/**
 * Intermediate memory of the commands of one commit: allocated where the device prefers it, and released afterwards.
 */
export class Scratch {
  readonly #device: OpenBackend;
  readonly #made: Storage[] = [];
  readonly #afterwards: (() => void)[] = [];
  /** The caller's own arrays that the commands read; they cannot be transferred until the commit is over. */
  readonly reachable: Values[] = [];

  constructor(device: OpenBackend) {
    this.#device = device;
  }

  /**
   * The numbers of `values` as `dtype`: the caller's own array if a device may read it, otherwise a copy. Throws
   * `ERR_CLOSED`.
   */
  input(values: Values, dtype: Dtype): Real {
    if (!isReadable(values, dtype)) return this.copy(values, dtype);
    this.reachable.push(values);
    return values as Real;
  }

  /** A copy of `values` as `dtype`, which commands may change. */
  copy(values: Values, dtype: Dtype): Real {
    const copy = this.#make(dtype, values.length);
    copy.set(values);
    return copy;
  }

  /**
   * A copy of `values`, which later commands may change. A command makes it, because a large one takes longer than the
   * host may hold the event loop.
   */
  copyByCommand(encoder: Encoder, values: Real): Real {
    const copy = this.#make(dtypeOf(values), values.length);
    encoder.copy(this.input(values, dtypeOf(values)), copy);
    return copy;
  }

  /** Like {@link copy}, by a command if there are many numbers: see {@link isForCommand}. */
  copyFor(encoder: Encoder, values: Values, dtype: Dtype): Real {
    const isByCommand = isForCommand(this.#device, values, dtype);
    return isByCommand ? this.copyByCommand(encoder, values as Real) : this.copy(values, dtype);
  }

  /** Numbers that a command writes before another reads them: until then they may be anything. */
  output(dtype: Dtype, length: number): Real {
    return this.#make(dtype, length);
  }

  zeros(dtype: Dtype, length: number): Real {
    return this.#make(dtype, length).fill(0);
  }

  /** Registers work for the host after the commit has run; it runs before the task's own `after`. */
  after(work: () => void): void {
    this.#afterwards.push(work);
  }

  /** Runs the work registered by {@link after}. */
  finish(): void {
    for (const work of this.#afterwards) work();
  }

  close(): void {
    for (const storage of this.#made) storage.close();
  }

  #make(dtype: Dtype, length: number): Real {
    const storage = Storage.piece(this.#device, dtype, length) ?? Storage.forResult(this.#device, dtype, length);
    this.#made.push(storage);
    return storage.values as Real;
  }
}
