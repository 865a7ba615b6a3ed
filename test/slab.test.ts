import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Backend } from '../lib/backend.ts';
import { openReference } from '../lib/reference/device.ts';
import { Slabs } from '../lib/slab.ts';

const slabBytes = 1 << 16;

/** The reference backend, which lists what is released. */
function listing(deviceMemoryFromBytes = 1): { backend: Backend; released: ArrayBuffer[] } {
  const real = openReference();
  const released: ArrayBuffer[] = [];
  const backend = {
    deviceMemoryFromBytes,
    memory: () => real.memory(),
    allocate: (sizeBytes: number) => real.allocate(sizeBytes),
    release: (memory: ArrayBuffer) => void released.push(memory),
  } as Backend;
  return { backend, released };
}

test('pieces share memory, are aligned, and do not overlap, also after one is released.', () => {
  const slabs = new Slabs(listing().backend);
  const [a, b] = [slabs.piece(24)!, slabs.piece(65)!];
  a.release();
  const c = slabs.piece(8)!;
  assert.is(a.memory, b.memory);
  assert.is(a.memory, c.memory);
  assert.equal([a.offsetBytes, b.offsetBytes, c.offsetBytes], [0, 64, 192]);
});

test('memory that is large or empty, or for a device that needs its own buffers, is not a piece of a slab.', () => {
  const slabs = new Slabs(listing().backend);
  assert.equal([slabs.piece(0), slabs.piece(32_769)], [undefined, undefined]);
  assert.is(new Slabs(listing(0).backend).piece(8), undefined);
});

test('a slab is released when it is full and its last piece is released, not before.', () => {
  const { backend, released } = listing();
  const slabs = new Slabs(backend);
  const first = Array.from({ length: 16 }, () => slabs.piece(4096)!);
  for (const piece of first.slice(1)) piece.release();
  const next = slabs.piece(4096)!;
  assert.is.not(next.memory, first[0]!.memory);
  assert.equal(released, []);
  assert.is(slabs.idleBytes, 15 * 4096 + slabBytes - 4096);
  first[0]!.release();
  assert.equal(released, [first[0]!.memory]);
  next.release();
  assert.equal(released.length, 1, 'the one in use stays');
  assert.is(slabs.idleBytes, slabBytes);
});

test('large pieces have their own, larger slabs.', () => {
  const slabs = new Slabs(listing().backend);
  const [small, large, another] = [slabs.piece(8)!, slabs.piece(4097)!, slabs.piece(32_768)!];
  assert.is.not(small.memory, large.memory);
  assert.is(large.memory, another.memory);
  assert.equal([small.memory.byteLength, large.memory.byteLength], [slabBytes, 8 * slabBytes]);
});

test('a full slab without an open piece is released at once.', () => {
  const { backend, released } = listing();
  const slabs = new Slabs(backend);
  const pieces = Array.from({ length: 16 }, () => slabs.piece(4096)!);
  for (const piece of pieces) piece.release();
  assert.equal(released, []);
  slabs.piece(8);
  assert.equal(released, [pieces[0]!.memory]);
});

const { gc } = globalThis;
const forgets = 'memory that a loop no longer references is collected before the event loop turns.';
if (gc === undefined) {
  console.log(`skipped  ${forgets} It needs --expose-gc: npm test has it.`);
  test.skip(forgets);
} else
  test(forgets, () => {
    const slabs = new Slabs(listing().backend);
    gc();
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 1600; i++) slabs.piece(4096);
    // The memory of arrays is freed on another thread.
    let grown = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < 100 && grown >= 20 * slabBytes; turn++) {
      gc();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      grown = process.memoryUsage().arrayBuffers - before;
    }
    assert.ok(grown < 20 * slabBytes, `${grown} bytes of ${100 * slabBytes} are held`);
  });

test.run();
