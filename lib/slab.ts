import type { Backend } from './backend.ts';

/** A part of a slab. */
export interface Piece {
  readonly memory: ArrayBuffer;
  readonly offsetBytes: number;
  /** To be called once, when nobody will use the piece. */
  readonly release: () => void;
}

const slabBytes = 1 << 16;
const largestPieceBytes = 1 << 12;
const alignmentBytes = 64;

interface Slab {
  readonly memory: ArrayBuffer;
  /** What the device counts for it: 0 if it had to take ordinary memory, which V8 counts. */
  readonly countedBytes: number;
  usedBytes: number;
  openBytes: number;
}

/**
 * Device memory that many small arrays share, because to allocate it costs more than to fill them. The bytes of a piece
 * serve once: a commit in flight may still read them when it is released. When all pieces of a full slab are released,
 * the slab goes back to the device, which knows what is in flight.
 */
export class Slabs {
  readonly #backend: Backend;
  #current: Slab | undefined;
  // Weak, so that pieces which nobody released go with the garbage collector.
  #full: WeakRef<Slab>[] = [];

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /**
   * Uninitialised memory; undefined if it should be allocated by itself, because it is large, or because commands need
   * all data in the device's memory: a GPU takes a part of a buffer only from certain offsets on. Throws what the
   * backend throws.
   */
  piece(sizeBytes: number): Piece | undefined {
    const isSmall = sizeBytes > 0 && sizeBytes <= largestPieceBytes;
    if (!isSmall || this.#backend.deviceMemoryFromBytes === 0) return undefined;
    const takenBytes = Math.ceil(sizeBytes / alignmentBytes) * alignmentBytes;
    const slab = this.#slabWith(takenBytes);
    const { memory, usedBytes: offsetBytes } = slab;
    slab.usedBytes += takenBytes;
    slab.openBytes += takenBytes;
    const release = () => {
      slab.openBytes -= takenBytes;
      if (slab !== this.#current) this.#releaseIfIdle(slab);
    };
    return { memory, offsetBytes, release };
  }

  /** Bytes of slabs that the device counts and no open piece uses. */
  get idleBytes(): number {
    let sum = this.#current === undefined ? 0 : idleBytesOf(this.#current);
    for (const each of this.#full) {
      const slab = each.deref();
      if (slab !== undefined && slab.openBytes > 0) sum += idleBytesOf(slab);
    }
    return sum;
  }

  #slabWith(sizeBytes: number): Slab {
    const slab = this.#current;
    if (slab !== undefined && slab.usedBytes + sizeBytes <= slabBytes) return slab;
    const before = this.#backend.memory().liveBytes;
    const memory = this.#backend.allocate(slabBytes);
    const countedBytes = this.#backend.memory().liveBytes - before;
    const next = { memory, countedBytes, usedBytes: 0, openBytes: 0 };
    this.#current = next;
    if (slab !== undefined && !this.#releaseIfIdle(slab)) {
      this.#full = this.#full.filter((each) => (each.deref()?.openBytes ?? 0) > 0);
      this.#full.push(new WeakRef(slab));
    }
    return next;
  }

  #releaseIfIdle({ memory, openBytes }: Slab): boolean {
    if (openBytes === 0) this.#backend.release(memory);
    return openBytes === 0;
  }
}

function idleBytesOf({ countedBytes, openBytes }: Slab): number {
  return Math.max(0, countedBytes - openBytes);
}
