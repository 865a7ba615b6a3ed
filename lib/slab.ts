import type { Backend } from './backend.ts';

/** A part of a slab. */
export interface Piece {
  readonly memory: ArrayBuffer;
  readonly offsetBytes: number;
  /** To be called once, when nobody will use the piece. */
  readonly release: () => void;
}

// A piece that stays open holds its whole slab: large pieces have large slabs of their own.
const kinds: readonly { readonly largestPieceBytes: number; readonly slabBytes: number }[] = [
  { largestPieceBytes: 1 << 12, slabBytes: 1 << 16 },
  { largestPieceBytes: 1 << 15, slabBytes: 1 << 19 },
];
const alignmentBytes = 64;

/** Bytes of a slab. */
interface Tally {
  /** What the device counts for it: 0 if it had to take ordinary memory, which V8 counts. */
  readonly countedBytes: number;
  usedBytes: number;
  openBytes: number;
}

interface Slab {
  readonly memory: ArrayBuffer;
  readonly tally: Tally;
}

/**
 * Device memory that many small arrays share, because to allocate it costs more than to fill them. The bytes of a piece
 * serve once: a commit in flight may still read them when it is released. When all pieces of a full slab are released,
 * the slab goes back to the device, which knows what is in flight.
 */
export class Slabs {
  readonly #backend: Backend;
  readonly #current: (Slab | undefined)[] = kinds.map(() => undefined);
  #idleBytes = 0;
  // Pieces that nobody released go with the garbage collector. A list of weak references would hold them until the
  // event loop turns, which a loop that forgets them may never allow.
  readonly #collected = new FinalizationRegistry<Tally>((tally) => {
    this.#idleBytes -= idleBytesOf(tally);
  });

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /**
   * Uninitialised memory; undefined if it should be allocated by itself, because it is large, or because commands need
   * all data in the device's memory: a GPU takes a part of a buffer only from certain offsets on. Throws what the
   * backend throws.
   */
  piece(sizeBytes: number): Piece | undefined {
    const kind = kinds.findIndex(({ largestPieceBytes }) => sizeBytes <= largestPieceBytes);
    if (sizeBytes === 0 || kind < 0 || this.#backend.deviceMemoryFromBytes === 0) return undefined;
    const takenBytes = Math.ceil(sizeBytes / alignmentBytes) * alignmentBytes;
    const slab = this.#slabWith(kind, takenBytes);
    const { memory, tally } = slab;
    const offsetBytes = tally.usedBytes;
    tally.usedBytes += takenBytes;
    this.#open(tally, takenBytes);
    const release = () => {
      this.#open(tally, -takenBytes);
      if (slab !== this.#current[kind]) this.#releaseIfIdle(slab);
    };
    return { memory, offsetBytes, release };
  }

  /** Bytes of slabs that the device counts and no open piece uses. */
  get idleBytes(): number {
    return this.#idleBytes;
  }

  #open(tally: Tally, bytes: number): void {
    this.#idleBytes -= idleBytesOf(tally);
    tally.openBytes += bytes;
    this.#idleBytes += idleBytesOf(tally);
  }

  #slabWith(kind: number, sizeBytes: number): Slab {
    const slab = this.#current[kind];
    const { slabBytes } = kinds[kind]!;
    if (slab !== undefined && slab.tally.usedBytes + sizeBytes <= slabBytes) return slab;
    const before = this.#backend.memory().liveBytes;
    const memory = this.#backend.allocate(slabBytes);
    const countedBytes = this.#backend.memory().liveBytes - before;
    const tally = { countedBytes, usedBytes: 0, openBytes: 0 };
    this.#idleBytes += idleBytesOf(tally);
    this.#collected.register(memory, tally, tally);
    const fresh = { memory, tally };
    this.#current[kind] = fresh;
    if (slab !== undefined) this.#releaseIfIdle(slab);
    return fresh;
  }

  #releaseIfIdle({ memory, tally }: Slab): void {
    if (tally.openBytes > 0) return;
    this.#collected.unregister(tally);
    this.#idleBytes -= idleBytesOf(tally);
    this.#backend.release(memory);
  }
}

function idleBytesOf({ countedBytes, openBytes }: Tally): number {
  return Math.max(0, countedBytes - openBytes);
}
