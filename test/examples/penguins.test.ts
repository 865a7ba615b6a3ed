import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { modulePath, nodeOptions } from '../harness/child.ts';
import { kindsHere } from '../harness/every-device.ts';
import { read } from '../harness/source-text.ts';
import { svgTexts } from '../harness/svg-texts.ts';

for (const kind of kindsHere)
  test(`${kind}: The main job fits the penguins, writes its files, and its sample agrees with the model.`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'covarium-penguins-'));
    try {
      const env = { ...process.env, COVARIUM_DEVICE: kind };
      const text = execFileSync(process.execPath, [...nodeOptions, modulePath('examples/penguins.ts')], {
        cwd: folder,
        env,
        encoding: 'utf8',
      });
      assert.match(text, `device   ${kind}: `);
      assert.match(text, 'from 342 penguins');
      assert.match(text, /\d ns a number\n/);
      // The means of the four measurements of the 342 complete rows, as palmerpenguins gives them.
      for (const mean of ['43.92', '17.15', '200.9', '4201.7']) assert.match(text, mean);
      assert.match(text, 'The sample agrees with the model');
      assert.is(readFileSync(join(folder, 'out/penguins.npy')).length, 128 + 1_000_000 * 4 * 4);
      const [names, ...rows] = readFileSync(join(folder, 'out/penguins.csv'), 'utf8').trimEnd().split('\n');
      assert.is(names, 'Beak Length (mm),Beak Depth (mm),Flipper Length (mm),Body Mass (g)');
      assert.is(rows.length, 1000);
      assert.match(text, 'out/penguins.svg');
      const picture = readFileSync(join(folder, 'out/penguins.svg'), 'utf8');
      assert.match(
        picture,
        /^<svg [\s\S]*1,000,000 draws, 1,300 of them as dots[\s\S]*342 rows of data[\s\S]*<\/svg>\n$/,
      );
      // The correlation of flipper and mass is 0.871 in palmerpenguins; the draws' own comes within 0.001 of it.
      assert.match(picture, 'Flipper Length (mm) and Body Mass (g): model 0.87, data 0.87, draws 0.87');
      assert.ok(picture.length < 300_000);
      assert.equal(svgTexts(picture), svgTexts(read('docs/penguins.svg')), 'docs/penguins.svg is what npm start draws');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

test.run();
