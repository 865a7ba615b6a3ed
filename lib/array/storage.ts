import type { Timings } from '../backend.ts';
import { backendOf, type OpenBackend } from '../backend-handle.ts';
import { CovariumError, fromNative } from '../covarium-error.ts';
import { bytesOf, type Dtype, dtypeOf, type Values, viewOf, zerosOf } from '../dtype.ts';
import { isDetached, refuseBeyondMemory } from './host-memory.ts';

/** Holds the numbers of a Matrix or a Vector: in ordinary memory, or in memory of a device, which `close` releases. */
export class Storage {
  readonly dtype: Dtype;
  /** Timings of the commit that computed the numbers. */
  timings: Timings | undefined = undefined;
  readonly #values: Values;
  readonly #device: OpenBackend | undefined;
  /** The device that computed the numbers or holds their memory. */
  readonly home: OpenBackend | undefined;
  #closed = false;

  /**
   * Storage over `values`. Device memory belongs to `device`; `home` is the device that computed ordinary memory's
   * numbers.
   */
  constructor(values: Values, device?: OpenBackend, home: OpenBackend | undefined = device) {
    this.dtype = dtypeOf(values);
    this.#values = values;
    this.#device = device;
    this.home = home;
  }

  /**
   * Memory for a result, where the device prefers it: zeros in ordinary memory, or uninitialised memory of the device.
   */
  static forResult(device: OpenBackend, dtype: Dtype, length: number): Storage {
    if (length * bytesOf(dtype) < backendOf(device).deviceMemoryFromBytes)
      return new Storage(zerosOf(dtype, length), undefined, device);
    return Storage.onDevice(device, dtype, length);
  }

  /**
   * Uninitialised device memory. Throws `ERR_TOO_LARGE` beyond 2^53 bytes or the longest typed array,
   * `ERR_OUT_OF_MEMORY` beyond this machine's memory.
   */
  static onDevice(device: OpenBackend, dtype: Dtype, length: number): Storage {
    const backend = backendOf(device);
    const sizeBytes = length * bytesOf(dtype);
    if (sizeBytes === 0) return new Storage(zerosOf(dtype, 0), undefined, device);
    refuseBeyondMemory(sizeBytes);
    let memory: ArrayBuffer | undefined;
    try {
      memory = backend.allocate(sizeBytes);
      return new Storage(viewOf(dtype, memory, length), device);
    } catch (error) {
      if (memory === undefined) throw fromNative(error);
      backend.release(memory);
      throw new CovariumError('ERR_TOO_LARGE', `A typed array cannot have (${length}) elements.`, { cause: error });
    }
  }

  /** Several of {@link onDevice}. If one fails, the others are closed. */
  static allOnDevice(device: OpenBackend, dtype: Dtype, lengths: readonly number[]): Storage[] {
    const made: Storage[] = [];
    try {
      for (const length of lengths) made.push(Storage.onDevice(device, dtype, length));
      return made;
    } catch (error) {
      for (const storage of made) storage.close();
      throw error;
    }
  }

  get closed(): boolean {
    return this.#closed || this.#device?.closed === true;
  }

  /** The live view; throws `ERR_CLOSED`, also if the array was transferred to another thread. */
  get values(): Values {
    const values = this.#values;
    if (this.#closed) throw new CovariumError('ERR_CLOSED', `The numbers (${values.length} before) are closed.`);
    if (this.#device?.closed)
      throw new CovariumError('ERR_CLOSED', `Device (${this.#device.name}) of the numbers is closed.`);
    if (values.length === 0 && isDetached(values.buffer))
      throw new CovariumError(
        'ERR_CLOSED',
        `The numbers are closed: their memory is detached (${values.length} bytes left).`,
      );
    return values;
  }

  /** The view for a command on `device`; throws `ERR_FOREIGN_BUFFER` if the memory belongs to another device. */
  valuesFor(device: OpenBackend): Values {
    const values = this.values;
    if (this.#device === undefined || this.#device === device) return values;
    throw new CovariumError(
      'ERR_FOREIGN_BUFFER',
      `Memory belongs to another device (${this.#device.name}), not to (${device.name}).`,
    );
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const device = this.#device;
    if (device !== undefined && !device.closed) backendOf(device).release(this.#values.buffer as ArrayBuffer);
  }
}
