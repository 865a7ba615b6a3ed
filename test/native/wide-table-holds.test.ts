// How long reading and writing a wide table hold the JavaScript thread. Work over 10,000 names takes much of the
// allowed time, and another process on the same core slows it more than the loop that it is compared with. So this
// file runs alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import { Matrix, writeTable } from '../../lib/index.ts';
import { tableFormats } from '../../lib/table/format.ts';
import { allowedMs, holdsShortly } from '../harness/holds.ts';
import { readsShortly } from '../harness/reads-shortly.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-wide-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const allowed = await allowedMs();
const columns = 10_000;
const matrix = Matrix.from(
  Float64Array.from({ length: 30 * columns }, (_, i) => Math.sin(i * i) * 1e3),
  { columns },
);
const names = Array.from({ length: columns }, (_, i) => `column ${i}`);

if (allowed !== undefined)
  for (const format of tableFormats)
    test(`${format} of 10,000 columns.`, async () => {
      const path = join(folder, `wide.${format}`);
      await holdsShortly(`Writing ${format}`, allowed, () => writeTable(path, matrix, { names }));
      await readsShortly(path, allowed);
    });

test.run();
