import { setImmediate } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exactly } from '../../lib/command/float64.ts';
import { runAll, runAllSync, type Tasks } from '../../lib/command/task.ts';
import { openDevice } from '../../lib/index.ts';
import { sliceMs } from '../../lib/work.ts';
import { throwsCode } from '../harness/throws-code.ts';

const pieces = 30;

/** Host work for several slices, in pieces of a millisecond, and then a commit. */
function* long(after: () => void): Tasks<number> {
  for (let piece = 0; piece < pieces; piece++) {
    const end = performance.now() + 1;
    while (performance.now() < end);
    after();
    yield;
  }
  using device = openDevice('reference');
  const value = new Float64Array(1);
  yield* exactly(device, (encoder) => encoder.copy(Float64Array.of(7), value));
  return value[0]!;
}

test('The event loop turns between slices of long work, and the result is the same as without slices.', async () => {
  let turns = 0;
  let isRunning = true;
  const watching = (async () => {
    for (; isRunning; turns++) await setImmediate();
  })();
  const seen = new Set<number>();
  assert.is(await runAll(long(() => seen.add(turns))), 7);
  isRunning = false;
  await watching;
  assert.ok(seen.size >= Math.floor(pieces / sliceMs), `the loop turned ${seen.size} times within ${pieces} ms`);
  assert.is(runAllSync(long(() => {})), 7);
});

test('A signal that aborts between two slices ends the work, and the generator cleans up.', async () => {
  const controller = new AbortController();
  let done = 0;
  let isClean = false;
  function* cleaning(): Tasks<number> {
    try {
      return yield* long(() => {
        if (++done === 1) globalThis.setImmediate(() => controller.abort(new Error('enough')));
      });
    } finally {
      isClean = true;
    }
  }
  await throwsCode('ERR_ABORTED', '(enough)', () => runAll(cleaning(), controller.signal));
  assert.ok(done < pieces && isClean, `${done} pieces`);
});

test.run();
