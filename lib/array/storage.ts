import type { Timings } from '../backend.ts';
import { backendOf, type OpenBackend, pieceOf, withBackend } from '../backend-handle.ts';
import { CovariumError, fromNative } from '../covarium-error.ts';
import { bytesOf, type Dtype, dtypeOf, unfilledOf, type Values, viewOf, zerosOf } from '../dtype.ts';
import { isDetached, refuseBeyondMemory } from './host-memory.ts';

/** Holds the numbers of a Matrix or a Vector: in ordinary memory, or in memory of a device, which `close` releases. */
export class Storage<D extends Dtype = Dtype> {
  readonly dtype: D;
  // That of a view which `close` has detached is 0.
  readonly #length: number;
  /** Timings of the commit that computed the numbers. */
  timings: Timings | undefined = undefined;
  readonly #values: Values<D>;
  readonly #device: OpenBackend | undefined;
  readonly #release: (() => void) | undefined;
  /** The device that computed the numbers or holds their memory: they are readable until it is closed. */
  readonly home: OpenBackend | undefined;
  #closed = false;
  // Whether only the device has the numbers.
  #isAway = false;

  /**
   * Storage over `values`. Device memory belongs to `device`; `home` is the device that computed ordinary memory's
   * numbers. `release` gives the memory back; by default all of a device's goes to the device.
   */
  constructor(values: Values<D>, device?: OpenBackend, home: OpenBackend | undefined = device, release?: () => void) {
    this.dtype = dtypeOf(values) as D;
    this.#values = values;
    this.#length = values.length;
    this.#device = device;
    this.#release = release;
    this.home = home;
  }

  /**
   * Uninitialised memory for a result, where the device prefers it: ordinary memory, or the device's.
   */
  static forResult<D extends Dtype>(device: OpenBackend, dtype: D, length: number): Storage<D> {
    if (length * bytesOf(dtype) < backendOf(device).deviceMemoryFromBytes)
      return new Storage(unfilledOf(dtype, length), undefined, device);
    return Storage.onDevice(device, dtype, length);
  }

  /** {@link forResult}, whose numbers stay in the device's own memory, if it has any, until the host reads them. */
  static away<D extends Dtype>(device: OpenBackend, dtype: D, length: number): Storage<D> {
    if (!backendOf(device).hasOwnMemory) return Storage.forResult(device, dtype, length);
    const storage = Storage.onDevice(device, dtype, length, true);
    storage.#isAway = length > 0;
    return storage;
  }

  /**
   * Uninitialised device memory. Throws `ERR_TOO_LARGE` beyond 2^53 bytes or the longest typed array,
   * `ERR_OUT_OF_MEMORY` beyond this machine's memory.
   */
  static onDevice<D extends Dtype>(device: OpenBackend, dtype: D, length: number, isAway = false): Storage<D> {
    const backend = backendOf(device);
    const sizeBytes = length * bytesOf(dtype);
    if (sizeBytes === 0) return new Storage(zerosOf(dtype, 0), undefined, device);
    refuseBeyondMemory(sizeBytes);
    let memory: ArrayBuffer | undefined;
    try {
      memory = backend.allocate(sizeBytes, isAway);
      return new Storage(viewOf(dtype, memory, length), device);
    } catch (error) {
      if (memory === undefined) throw fromNative(error);
      backend.release(memory);
      throw new CovariumError('ERR_TOO_LARGE', `A typed array cannot have (${length}) elements.`, { cause: error });
    }
  }

  /**
   * Like {@link onDevice}, for numbers that the caller never gets to see: small ones share memory with others.
   */
  static inside<D extends Dtype>(device: OpenBackend, dtype: D, length: number): Storage<D> {
    return Storage.piece(device, dtype, length) ?? Storage.onDevice(device, dtype, length);
  }

  /** A part of memory that small arrays share; undefined for one that should have its own. */
  static piece<D extends Dtype>(device: OpenBackend, dtype: D, length: number): Storage<D> | undefined {
    const piece = pieceOf(device, length * bytesOf(dtype));
    if (piece === undefined) return undefined;
    return new Storage(viewOf(dtype, piece.memory, length, piece.offsetBytes), device, device, piece.release);
  }

  /** Several of {@link inside}. If one fails, the others are closed. */
  static allInside<D extends Dtype>(device: OpenBackend, dtype: D, lengths: readonly number[]): Storage<D>[] {
    return all(lengths, (length) => Storage.inside(device, dtype, length));
  }

  /** Several of {@link onDevice}. If one fails, the others are closed. */
  static allOnDevice<D extends Dtype>(device: OpenBackend, dtype: D, lengths: readonly number[]): Storage<D>[] {
    return all(lengths, (length) => Storage.onDevice(device, dtype, length));
  }

  /** Several of {@link forResult}. If one fails, the others are closed. */
  static allForResult<D extends Dtype>(device: OpenBackend, dtype: D, lengths: readonly number[]): Storage<D>[] {
    return all(lengths, (length) => Storage.forResult(device, dtype, length));
  }

  get closed(): boolean {
    return this.#closed || this.home?.closed === true || this.#isGone;
  }

  /**
   * The live view; throws `ERR_CLOSED`, also if the array was transferred to another thread. Numbers that only the
   * device has are copied to the host first.
   */
  get values(): Values<D> {
    const values = this.#open();
    if (this.#isAway) {
      withBackend(this.#device!, (backend) => backend.fetch(values.buffer as ArrayBuffer));
      this.#isAway = false;
    }
    return values;
  }

  // Transferred to another thread.
  get #isGone(): boolean {
    return this.#values.length === 0 && isDetached(this.#values.buffer);
  }

  #open(): Values<D> {
    const values = this.#values;
    if (this.#closed) throw new CovariumError('ERR_CLOSED', `Memory is closed (${this.#length} numbers before).`);
    // Ordinary memory too: how long a result can be read does not depend on its size.
    if (this.home?.closed)
      throw new CovariumError(
        'ERR_CLOSED',
        `Memory is of a closed device (${this.home.name}): copy the numbers (toArray, data.slice()) before it is closed.`,
      );
    if (this.#isGone)
      throw new CovariumError('ERR_CLOSED', `Memory is closed: it is detached (${values.length} bytes left).`);
    return values;
  }

  /**
   * The view for the host to read and for a command on `device`; throws `ERR_FOREIGN_BUFFER` if the memory belongs to
   * another device.
   */
  valuesFor(device: OpenBackend): Values<D> {
    this.operandFor(device);
    return this.values;
  }

  /** The view for a command on `device` alone: the numbers may be where only the device sees them. */
  operandFor(device: OpenBackend): Values<D> {
    const values = this.#open();
    if (this.#device === undefined || this.#device === device) return values;
    throw new CovariumError(
      'ERR_FOREIGN_BUFFER',
      `Memory belongs to another device (${this.#device.name}), not to (${device.name}).`,
    );
  }

  /** Says that the numbers stay as they are until they are closed; see `Backend`. */
  settle(): void {
    const device = this.#device;
    if (device !== undefined && !this.closed) backendOf(device).settle(this.#values);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const device = this.#device;
    if (device?.closed) return;
    if (this.#release !== undefined) this.#release();
    else if (device !== undefined) backendOf(device).release(this.#values.buffer as ArrayBuffer);
  }
}

function all<D extends Dtype>(lengths: readonly number[], make: (length: number) => Storage<D>): Storage<D>[] {
  const made: Storage<D>[] = [];
  try {
    for (const length of lengths) made.push(make(length));
    return made;
  } catch (error) {
    for (const storage of made) storage.close();
    throw error;
  }
}
