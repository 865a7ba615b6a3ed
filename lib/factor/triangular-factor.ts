import type { Storage } from '../array/storage.ts';
import type { Timings } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import type { Real } from '../dtype.ts';

/** Storage of a factor that consists of n x n numbers with zeros above the diagonal. */
export abstract class TriangularFactor {
  readonly n: number;
  readonly #storage: Storage;
  #logDiagonal: number | undefined;

  /** Takes n x n numbers with zeros above the diagonal. */
  constructor(storage: Storage, n: number) {
    this.#storage = storage;
    this.n = n;
  }

  get width(): number {
    return this.n;
  }

  get rank(): number {
    return this.n;
  }

  get timings(): Timings | undefined {
    return this.#storage.timings;
  }

  get storages(): readonly Storage[] {
    return [this.#storage];
  }

  /** The device whose memory it is, if one's. */
  get home(): OpenBackend | undefined {
    return this.#storage.home;
  }

  /** The numbers; throws `ERR_CLOSED`. */
  get lower(): Real {
    return this.#storage.values as Real;
  }

  /** Sum of the logarithms of the diagonal; each density asks for it. */
  get logDiagonal(): number {
    this.#logDiagonal ??= sumOfLogarithms(this.lower, this.n);
    return this.#logDiagonal;
  }

  close(): void {
    this.#storage.close();
  }
}

function sumOfLogarithms(lower: Real, n: number): number {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += Math.log(lower[i * (n + 1)]!);
  return sum;
}
