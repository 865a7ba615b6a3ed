// The queue of the Metal device: order, cancelling and closing. Runs over the software stand-in, which runs its
// command buffers on its own thread as Metal does; tests that need no hook run on a Mac too.
import { stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import type { Backend, Encoder } from '../../lib/backend.ts';
import { openReference } from '../../lib/reference/device.ts';
import fc from '../harness/properties.ts';
import { sanitized } from '../harness/sanitized.ts';
import { throwsCode } from '../harness/throws-code.ts';
import { onMetal, onSoftMetal } from './on-metal.ts';
import { commit, counter, normals, openMetal } from './queue-commits.ts';

/** How commits end: `ran`, or the code of their error. */
async function endings(commits: Iterable<Promise<unknown>>): Promise<string[]> {
  const settled = await Promise.allSettled(commits);
  return settled.map((ending) => (ending.status === 'fulfilled' ? 'ran' : (ending.reason as { code: string }).code));
}

onSoftMetal(
  '1,000 commits in flight all settle when the device is closed in the middle, and nothing leaks.',
  async (soft) => {
    const device = openMetal();
    soft.set('delayMs', 1);
    const memory = device.allocate(256);
    const shared = new Float32Array(memory);
    const hosts = Array.from({ length: 1000 }, () => new Float32Array(8));
    let settled = 0;
    const commits = hosts.map((host, i) => {
      const { done } = commit(device, (encoder) => {
        if (i % 3 !== 1) encoder.fillNormal(i % 3 === 0 ? shared : host, counter(i));
        if (i % 3 !== 0) encoder.requireFinite(shared, 64);
      });
      const count = () => {
        settled += 1;
      };
      done.then(count, count);
      return done;
    });
    while (settled < 100) await setTimeout(1);
    assert.ok(settled < 900, `(${settled}) have settled`);
    device.release(memory);
    device.close();
    const codes = await endings(commits);
    const ran = codes.filter((code) => code === 'ran').length;
    console.log(`closed in the middle: ${ran} ran, ${codes.length - ran} were aborted`);
    assert.ok(ran >= 100 && ran < 1000);
    assert.equal([...new Set(codes)].sort(), ['ERR_ABORTED', 'ran']);
    hosts.forEach((host, i) => {
      if (i % 3 === 2 && codes[i] === 'ran') assert.equal(host, normals(i, 8), `commit ${i} ran`);
    });
    await throwsCode('ERR_CLOSED', () => device.encoder());
  },
);

onSoftMetal('A commit blocks neither JavaScript nor the pool of libuv.', async (soft) => {
  const device = openMetal();
  soft.set('delayMs', 30);
  soft.reset();
  soft.set('delayMs', 30);
  const memory = device.allocate(256);
  const shared = new Float32Array(memory);
  const short = Array.from({ length: 200 }, () => commit(device, (encoder) => encoder.fillNormal(shared, counter(1))));
  // The others would block: Metal allows 64 command buffers at a time.
  assert.ok(soft.count('commits') <= 40, `${soft.count('commits')} are committed when the last call returns`);
  for (const { encoder } of short.slice(20)) encoder.cancel();
  const host = new Float32Array(8);
  const staged = Array.from({ length: 8 }, () => commit(device, (encoder) => encoder.fillNormal(host, counter(1))));
  let ended = 0;
  for (const { done } of staged)
    done.then(() => {
      ended += 1;
    });
  await Promise.all(Array.from({ length: 8 }, () => stat('package.json')));
  assert.is(ended, 0, 'files were read before the first of eight commits with host memory ended');
  const codes = await endings(short.map(({ done }) => done));
  assert.equal([...new Set(codes.slice(0, 20))], ['ran']);
  assert.equal([...new Set(codes.slice(20))], ['ERR_ABORTED']);
  await Promise.all(staged.map(({ done }) => done));
  device.release(memory);
  device.close();
});

onSoftMetal('A synchronous call runs after every commit before it, of any kind.', async (soft) => {
  const device = openMetal();
  soft.set('delayMs', 3);
  const memory = device.allocate(256);
  const [shared, host] = [new Float32Array(memory), new Float32Array(64)];
  const before = [
    commit(device, (encoder) => encoder.fillNormal(shared, counter(1))),
    ...Array.from({ length: 40 }, () => commit(device, (encoder) => encoder.sum(shared, shared, shared))),
    commit(device, (encoder) => encoder.copy(shared, host)),
    commit(device, (encoder) => encoder.requireFinite(host, 64)),
    commit(device, (encoder) => encoder.sum(host, host, shared)),
  ];
  const encoder = device.encoder();
  encoder.sum(shared, shared, shared);
  encoder.commitSync();
  // Doubling a normal 40 + 2 times is exact.
  assert.equal(
    Array.from(shared, (value) => value / 2 ** 42),
    Array.from(normals(1, 64)),
  );
  assert.equal([...new Set(await endings(before.map(({ done }) => done)))], ['ran']);
  device.release(memory);
  device.close();
});

onSoftMetal('Queued and running commits can be cancelled one by one; the next one runs.', async (soft) => {
  const device = openMetal();
  const memory = device.allocate(256);
  const [shared, host] = [new Float32Array(memory), new Float32Array(64)];
  const records: readonly ((encoder: Encoder) => void)[] = [
    (encoder) => encoder.fillNormal(shared, counter(1)),
    (encoder) => encoder.fillNormal(host, counter(2)),
    (encoder) => encoder.meanAndCovariance(shared, host.subarray(0, 1), host.subarray(1, 2), 1),
  ];
  for (const order of records.flatMap((a) => records.map((b) => [records[0]!, a, b, records[0]!])))
    for (const cancelled of [[0], [1], [2], [0, 2], [0, 1, 2]]) {
      shared.fill(0);
      soft.set('delayMs', 40); // the first one is still running when it is cancelled
      const commits = order.map((record) => commit(device, record));
      for (const at of cancelled) commits[at]!.encoder.cancel();
      soft.set('delayMs', 0);
      const codes = await endings(commits.map(({ done }) => done));
      assert.equal(
        codes,
        order.map((_, at) => (cancelled.includes(at) ? 'ERR_ABORTED' : 'ran')),
      );
      assert.equal(shared, normals(1, 64), 'the last one ran');
    }
  soft.set('delayMs', 40);
  const first = commit(device, records[1]!);
  host.fill(-1);
  const second = commit(device, records[1]!);
  second.encoder.cancel();
  await first.done;
  assert.equal(host, normals(2, 64), 'the one before a cancelled commit ran');
  await throwsCode('ERR_ABORTED', () => second.done);
  second.encoder.cancel();
  const third = device.encoder();
  records[0]!(third);
  third.cancel();
  soft.reset();
  await throwsCode('ERR_ABORTED', () => third.commit());
  assert.is(soft.count('encoders'), 0, 'a commit cancelled before it begins is not even encoded');
  assert.is(device.memory().liveBytes, 1 << 14, 'cancelled commits released their buffers');
  device.release(memory);
  device.close();
});

onSoftMetal(
  'A cancelled commit that has not begun ends at once, whatever its kind, and those after it run.',
  async (soft) => {
    const device = openMetal();
    const memory = device.allocate(256);
    const [shared, host] = [new Float32Array(memory), new Float32Array(64)];
    const kinds: readonly ((encoder: Encoder) => void)[] = [
      (encoder) => encoder.fillNormal(shared, counter(2)),
      (encoder) => encoder.fillNormal(host, counter(2)),
    ];
    for (const record of kinds) {
      soft.set('delayMs', 100);
      const settled: string[] = [];
      const noted = (name: string, done: Promise<unknown>) => done.finally(() => settled.push(name));
      // With host memory, so that the next waits in the queue, not on the GPU.
      const first = noted('first', commit(device, (encoder) => encoder.fillNormal(host, counter(1))).done);
      const { encoder, done } = commit(device, record);
      const last = noted('last', commit(device, (each) => each.copy(host, shared)).done);
      encoder.cancel();
      await throwsCode('ERR_ABORTED', () => noted('cancelled', done));
      assert.equal(settled, ['cancelled']);
      soft.set('delayMs', 0);
      await Promise.all([first, last]);
      assert.equal(settled, ['cancelled', 'first', 'last']);
      assert.equal([host, shared], [normals(1, 64), normals(1, 64)]);
    }
    device.release(memory);
    device.close();
  },
);

onMetal('Host arrays may be used twice, and may overlap, in one command buffer.', () => {
  const device = openMetal();
  const host = new Float32Array(160);
  const [left, middle, right] = [host.subarray(0, 64), host.subarray(32, 96), host.subarray(64, 128)];
  const out = new Float32Array(64);
  const encoder = device.encoder();
  encoder.fillNormal(left, counter(1));
  encoder.fillNormal(right, counter(2));
  encoder.sum(middle, middle, out); // the second half of left, the first of right
  encoder.fillNormal(middle, counter(3));
  encoder.sum(left, right, right);
  encoder.copy(host.subarray(40, 50), host.subarray(150));
  encoder.sum(out, out, out);
  encoder.commitSync();
  const [one, two, three] = [1, 2, 3].map((seed) => normals(seed, 64));
  const expected = new Float32Array(160);
  expected.set(one!);
  expected.set(two!, 64);
  const sums = expected.slice(32, 96).map((value) => 4 * value);
  expected.set(three!, 32);
  const before = expected.slice();
  for (let i = 0; i < 64; i++) expected[64 + i] = before[i]! + before[64 + i]!;
  expected.copyWithin(150, 40, 50);
  assert.equal(host, expected);
  assert.equal(out, sums);
  assert.is(device.memory().liveBytes, 0);
  device.close();
});

onMetal('Overlapping operands of one command leave no stale copy for the next command.', () => {
  const device = openMetal();
  const host = Float32Array.from({ length: 12 }, (_, i) => i);
  const [a, out] = [host.subarray(4, 12), host.subarray(0, 8)];
  const seen = new Float32Array(3);
  const encoder = device.encoder();
  encoder.sum(a, out, out);
  encoder.copy(host.subarray(5, 8), seen);
  encoder.commitSync();
  assert.equal(
    host.subarray(0, 8),
    new Float32Array(8).map((_, i) => 4 + 2 * i),
  );
  assert.equal(seen, host.subarray(5, 8), 'what the sum wrote');
  device.close();
});

// A program is a sequence of commits; a commit is a sequence of commands over three arrays in device memory and three
// overlapping arrays in host memory. Every command keeps numbers finite, so that no commit fails.
const size = 8;
const length = size * size;
const verbs = ['fillNormal', 'copy', 'sum', 'addRow', 'zeroUpper', 'antitranspose', 'factor', 'requireFinite'] as const;
type Command = readonly [verb: (typeof verbs)[number], to: number, from: number, seed: number];

interface Arrays {
  readonly places: readonly Float32Array[];
  readonly diagonal: Float32Array;
  readonly scratch: Float32Array;
  readonly all: readonly Float32Array[];
}

function arraysOf(device: Backend): Arrays {
  const [a, b, c, scratch] = Array.from({ length: 4 }, () => new Float32Array(device.allocate(4 * length)).fill(1));
  const host = new Float32Array(2 * length);
  const places = [a!, b!, c!, ...[0, length / 2, length].map((at) => host.subarray(at, at + length))];
  const diagonal = new Float32Array(length).map((_, i) => (i % (size + 1) === 0 ? 8 : 0));
  return { places, diagonal, scratch: scratch!, all: [a!, b!, c!, host] };
}

function overlap(a: Float32Array, b: Float32Array): boolean {
  return (
    a.buffer === b.buffer && a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength
  );
}

function recordCommand(encoder: Encoder, arrays: Arrays, [verb, toAt, fromAt, seed]: Command): void {
  const [to, from] = [arrays.places[toAt]!, arrays.places[fromAt]!];
  if (verb === 'fillNormal') encoder.fillNormal(to, counter(seed));
  else if (verb === 'zeroUpper') encoder.zeroUpper(to, size);
  else if (verb === 'antitranspose') encoder.antitranspose(to, size);
  else if (verb === 'requireFinite') encoder.requireFinite(to, size);
  else if (verb === 'factor') {
    const { scratch, diagonal } = arrays;
    encoder.fillNormal(scratch, counter(seed));
    encoder.product(scratch, scratch, to, size, size, size, false, true, 1, 0);
    encoder.sum(to, diagonal, to);
    encoder.cholesky(to, size, 'auto');
  } else if (overlap(to, from)) encoder.fillNormal(to, counter(seed));
  else if (verb === 'copy') encoder.copy(from, to);
  else if (verb === 'sum') encoder.sum(from, to, to);
  else encoder.addRow(to, from.subarray(0, size), -0.5);
}

const program = fc.array(
  fc.record({
    isSync: fc.boolean(),
    commands: fc.array(
      fc.tuple(fc.constantFrom(...verbs), fc.nat(5), fc.nat(5), fc.nat(1000)) as fc.Arbitrary<Command>,
      { minLength: 1, maxLength: 4 },
    ),
  }),
  { minLength: 1, maxLength: 12 },
);

onMetal('Random programs of GPU work, CPU work and host arrays keep their order.', async () => {
  const [device, reference] = [openMetal(), openReference()];
  await fc.assert(
    fc.asyncProperty(program, async (commits) => {
      const [actual, expected] = [arraysOf(device), arraysOf(reference)];
      const pending: Promise<unknown>[] = [];
      for (const { isSync, commands } of commits) {
        for (const [backend, arrays] of [[device, actual] as const, [reference, expected] as const]) {
          const encoder = backend.encoder();
          for (const command of commands) recordCommand(encoder, arrays, command);
          if (isSync || backend === reference) encoder.commitSync();
          else pending.push(encoder.commit());
        }
      }
      await Promise.all(pending);
      actual.all.forEach((values, at) => {
        const wanted = expected.all[at]!;
        const bound = 1e-4 * (1 + wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
        values.forEach((value, i) => {
          if (!(Math.abs(value - wanted[i]!) <= bound))
            assert.unreachable(`array ${at}, element ${i} is (${value}), not (${wanted[i]})`);
        });
      });
      for (const { buffer } of [...actual.places.slice(0, 3), actual.scratch]) device.release(buffer as ArrayBuffer);
    }),
    { numRuns: sanitized ? 50 : 400 },
  );
  assert.is(device.memory().liveBytes, 0);
  device.close();
  reference.close();
});

onMetal('A launch over overlapping host arrays is refused; over separate parts of one array it is not.', async () => {
  const device = loadAddon().addon!.openDevice('metal', { threads: 1 });
  const values = new Float32Array(12).fill(1);
  const launch = (rows: Float32Array, row: Float32Array) => {
    const encoder = device.encoder();
    const params = Uint32Array.of(2, 4, 0);
    new Float32Array(params.buffer)[2] = 1;
    encoder.launch('add_row', [rows, row, params], [4, 2, 1], [4, 1, 1]);
    encoder.commitSync();
  };
  await throwsCode('ERR_INVALID_ARGUMENT', () => launch(values.subarray(0, 8), values.subarray(6, 10)));
  launch(values.subarray(0, 8), values.subarray(8));
  assert.equal([...values], [2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1]);
  device.close();
});

test.run();
