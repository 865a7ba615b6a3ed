import type { Backend, CompiledKernel, Encoder, Explanation, KernelSource, MemoryUsage } from '../backend.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Dtype } from '../dtype.ts';
import { type CommitTarget, ReferenceEncoder } from './encoder.ts';
import { allocate, detach } from './memory.ts';
import { Queue } from './queue.ts';

/** Opens the device in plain TypeScript, which is always available. */
export function openReference(): Backend {
  return new ReferenceDevice();
}

class ReferenceDevice implements Backend {
  readonly kind = 'reference';
  readonly name = 'plain TypeScript';
  readonly threads = 1;
  readonly lacksDecompositions = '';
  readonly triesEigenvalues = false;
  readonly hasOwnMemory = false;
  readonly deviceMemoryFromBytes = 1 << 20; // smaller results need not be registered
  readonly dtypes: readonly Dtype[] = ['float32', 'float64'];
  readonly #queue = new Queue();
  // Weak, so that the garbage collector can free memory that nobody refers to.
  readonly #own = new WeakSet<ArrayBuffer>();
  readonly #forgotten = new FinalizationRegistry<number>((sizeBytes) => {
    this.#liveBytes -= sizeBytes;
  });
  #liveBytes = 0;
  // Commits are numbered: released memory may be in use by those in flight at that time, but not by later ones.
  readonly #inFlight = new Set<number>();
  #lastCommit = 0;
  readonly #leaving = new Map<ArrayBuffer, number>();
  #closed = false;

  allocate(sizeBytes: number): ArrayBuffer {
    this.#requireOpen();
    const memory = allocate(sizeBytes);
    this.#own.add(memory);
    this.#forgotten.register(memory, sizeBytes, memory);
    this.#liveBytes += sizeBytes;
    return memory;
  }

  settle(): void {}

  fetch(): void {}

  release(memory: ArrayBuffer): void {
    if (!this.#own.delete(memory)) return;
    this.#forgotten.unregister(memory);
    this.#leaving.set(memory, this.#lastCommit);
    this.#detachUnused();
  }

  encoder(): Encoder {
    this.#requireOpen();
    return new ReferenceEncoder(() => this.#target());
  }

  explain(): Explanation {
    return { runsOn: 'cpu', because: 'This device computes in TypeScript.' };
  }

  async translator(): Promise<string> {
    return '';
  }

  async translate(): Promise<string> {
    throw new CovariumError('ERR_NO_COMPILER', 'The reference device compiles nothing.');
  }

  async compile({ name }: KernelSource): Promise<CompiledKernel> {
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      `The reference device does not run kernels (${name}): open metal or cpu.`,
    );
  }

  memory(): MemoryUsage {
    this.#requireOpen();
    return { liveBytes: this.#liveBytes, pooledBytes: 0 };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue.cancel();
  }

  #target(): CommitTarget {
    this.#requireOpen();
    return { queue: this.#queue, hold: () => this.#hold() };
  }

  #hold(): () => void {
    this.#lastCommit += 1;
    const commit = this.#lastCommit;
    this.#inFlight.add(commit);
    return () => {
      this.#inFlight.delete(commit);
      this.#detachUnused();
    };
  }

  #detachUnused(): void {
    const [oldest = Number.POSITIVE_INFINITY] = this.#inFlight;
    for (const [memory, lastUse] of this.#leaving) {
      if (lastUse >= oldest) continue;
      this.#leaving.delete(memory);
      this.#liveBytes -= memory.byteLength;
      detach(memory);
    }
  }

  #requireOpen(): void {
    if (this.#closed) throw new CovariumError('ERR_CLOSED', `Device (${this.name}) is closed.`);
  }
}
