// The addon's CSV, in a file that the sanitizers run too (test/sanitize.mjs). test/table/csv.test.ts tests what it
// reads and writes.
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import { writeFloat32 } from '../../lib/table/decimal.ts';
import { mutateFiles } from '../harness/mutate-files.ts';
import { sanitized } from '../harness/sanitized.ts';
import { throwsCode } from '../harness/throws-code.ts';

const { addon, file } = loadAddon();
if (addon === undefined) console.log('skipped  CSV of the addon: there is no addon');
else {
  test('Mutated files are read as in TypeScript.', async () => {
    const { findings, read } = await mutateFiles('csv', { rounds: sanitized ? 150 : 300, seed: 11 });
    assert.equal(findings, []);
    assert.ok(read > 0);
  });

  test('Numbers have the text of String(), and float32 that of the plain writer.', async () => {
    const bounds = [1e-7, 1e-6, 1e-5, 2 ** 24, 2 ** 52, 2 ** 53, 2 ** 54, 1e15, 1e17, 1e20, 1e21, 1e22];
    const specials = [0, 0.5, 1e5, 5e-324, Number.MAX_VALUE, Infinity, Number.NaN, 2 ** 51 + 0.5];
    const near = bounds.flatMap((bound) => [
      bound * (1 - 2 ** -52),
      bound,
      bound * (1 + 2 ** -51),
      bound - 1,
      bound + 1,
    ]);
    const bits = new BigUint64Array(20_000).map((_, i) => (BigInt(i + 1) * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn);
    const anywhere = Array.from(new Float64Array(bits.buffer));
    const scales = anywhere.map((_, i) => Math.sin(i + 1) * 2 ** ((i % 120) - 50));
    const wholes = anywhere.map((_, i) => Math.floor(2 ** ((i % 700) / 10) * 1.37));
    const values = [...near, ...specials, ...anywhere, ...scales, ...wholes].flatMap((value) => [value, -value]);
    const linesOf = async (numbers: Float32Array | Float64Array) => {
      const text = new Uint8Array(26 * numbers.length);
      const length = await addon.writeCsv(numbers, 1, text);
      return Buffer.from(text.subarray(0, length)).toString().trimEnd().split('\n');
    };
    const different = (lines: string[], expected: string[]) => lines.filter((line, i) => line !== expected[i]);
    const double = Float64Array.from(values);
    const shown = Array.from(double, (value) => (Object.is(value, -0) ? '-0' : String(value)));
    assert.equal(different(await linesOf(double), shown), []);
    const single = Float32Array.from(values);
    const plain = Array.from(single, (value) => {
      const text = Buffer.alloc(32);
      return text.toString('latin1', 0, writeFloat32(value, text, 0));
    });
    assert.equal(different(await linesOf(single), plain), []);
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

  test('A worker may end while blocks are read; the process goes on.', async () => {
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
