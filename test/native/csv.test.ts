// The addon's CSV, where the sanitizers see it too (test/sanitize.mjs); what it reads and writes,
// test/table/csv.test.ts says.
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import { readMutated } from '../harness/mutated-tables.ts';
import { sanitized } from '../harness/sanitized.ts';
import { throwsCode } from '../harness/throws-code.ts';

const { addon, file } = loadAddon();
if (addon === undefined) console.log('skipped  CSV of the addon: there is no addon');
else {
  test('Mutated files are read as in TypeScript.', async () => {
    const { read } = await readMutated('csv', sanitized ? 150 : 300, 11);
    assert.ok(read > 0);
  });

  test('Arguments that do not fit together are refused before anything is read or written.', async () => {
    const bytes = Buffer.from('1,2\n');
    const room = new Float64Array(16);
    const read =
      (places: Int32Array, columns: number, values: Float64Array = room) =>
      () =>
        addon.readCsv(bytes, places, columns, 0x2c, 0, false, values);
    await throwsCode('ERR_SHAPE', read(Int32Array.of(0, 5), 2));
    await throwsCode('ERR_SHAPE', read(Int32Array.of(0), 0));
    await throwsCode('ERR_SHAPE', read(Int32Array.of(0, 1), 2, new Float64Array(3)));
    await throwsCode('ERR_INVALID_ARGUMENT', read(Int32Array.of(0), 1, new Float32Array(16) as never));
    await throwsCode('ERR_INVALID_ARGUMENT', () =>
      addon.readCsv('1,2' as never, Int32Array.of(0), 1, 0x2c, 0, false, room),
    );
    await throwsCode('ERR_SHAPE', () => addon.writeCsv(Float64Array.of(1, 2), 2, new Uint8Array(51)));
    await throwsCode('ERR_SHAPE', () => addon.writeCsv(Float64Array.of(1, 2), 3, new Uint8Array(100)));
    await throwsCode('ERR_INVALID_ARGUMENT', () => addon.writeCsv(Int32Array.of(1) as never, 1, new Uint8Array(100)));
    assert.is((await read(Int32Array.of(-1, 0), 1)()).rows, 1);
    assert.is(room[0], 2);
  });

  test('A worker that ends while blocks are read takes nothing with it.', async () => {
    const script = `const { parentPort } = require('node:worker_threads');
      const { readCsv } = require(${JSON.stringify(file!.path)});
      const bytes = Buffer.from('1.5,2.5\\n'.repeat(200_000));
      for (let i = 0; i < 6; i++) readCsv(bytes, Int32Array.of(0, 1), 2, 0x2c, 0, false, new Float64Array(1_000_000));
      parentPort.postMessage('begun');`;
    for (let round = 0; round < 3; round++) {
      const worker = new Worker(script, { eval: true });
      await new Promise((resolve) => worker.once('message', resolve));
      await worker.terminate();
    }
    const seven = new Float64Array(2);
    assert.is((await addon.readCsv(Buffer.from('7'), Int32Array.of(0), 1, 0x2c, 0, false, seven)).rows, 1);
    assert.is(seven[0], 7);
  });
}

test.run();
