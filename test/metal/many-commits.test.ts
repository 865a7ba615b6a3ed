// Many commits of a Metal device leak nothing, whatever they do.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Encoder } from '../../lib/backend.ts';
import { residentMebibytes } from '../harness/resident-memory.ts';
import { sanitized } from '../harness/sanitized.ts';
import { onMetal } from './on-metal.ts';
import { commit, counter, normals, openMetal } from './queue-commits.ts';

const total = sanitized ? 10_000 : 100_000;
if (sanitized) console.log(`commits: (${total}), because the sanitizer makes each of them slow`);

onMetal(`${total.toLocaleString('en')} commits leave nothing behind, and memory does not grow.`, async () => {
  const device = openMetal();
  const memory = device.allocate(256);
  const [shared, host] = [new Float32Array(memory), new Float32Array(64)];
  const kinds: readonly ((encoder: Encoder) => void)[] = [
    (encoder) => encoder.fillNormal(shared, counter(1)),
    (encoder) => encoder.requireFinite(shared, 64),
    (encoder) => encoder.fillNormal(host, counter(2)),
    (encoder) => encoder.sum(host, shared, shared),
  ];
  const begin = performance.now();
  let before = 0;
  let pending: Promise<unknown>[] = [];
  for (let i = 0; i < total; i++) {
    if (i === total / 10) before = await residentMebibytes();
    if (i % 5 < 2) {
      const encoder = device.encoder();
      kinds[i % 4]!(encoder);
      encoder.commitSync();
    } else {
      pending.push(commit(device, kinds[i % 4]!).done);
    }
    if (i % 100 === 99) {
      await Promise.all(pending);
      pending = [];
    }
  }
  const seconds = (performance.now() - begin) / 1000;
  const after = await residentMebibytes();
  console.log(
    `${total} commits in ${seconds.toFixed(1)} s; ${before.toFixed(0)} MiB before, ${after.toFixed(0)} after`,
  );
  assert.ok(after - before < (sanitized ? 256 : 32), `resident memory grew by ${after - before} MiB`);
  assert.equal(host, normals(2, 64), 'and the last ones did their work');
  device.release(memory);
  assert.is(device.memory().liveBytes, 0);
  device.close();
});

test.run();
