// docs/tutorial.md, followed exactly, on the reference device: its data, its commands and its program.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { moduleUrl, nodeOptions, runNode } from '../harness/child.ts';
import { run } from '../harness/command-line.ts';
import { read } from '../harness/source-text.ts';
import { svgTexts } from '../harness/svg-texts.ts';
import { blocksOf } from './markdown.ts';

const page = 'docs/tutorial.md';
const blocks = blocksOf(page);
const text = (language: string) =>
  blocks.filter((block) => block.language === language).map((block) => `${block.text}\n`);

test('The tutorial fits, draws, plots and prints what it says.', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-tutorial-'));
  const env: NodeJS.ProcessEnv = { ...process.env, COVARIUM_DEVICE: 'reference' };
  try {
    const [trees] = text('text');
    writeFileSync(join(folder, 'trees.csv'), trees!);
    const commands = text('sh')
      .join('')
      .split('\n')
      .filter((line) => /^npx covarium (?!devices)/.test(line));
    assert.is(commands.length, 3);
    for (const command of commands) {
      // The files are in the folder of the tutorial.
      const words = command.split(' ').slice(2);
      const args = words.map((word) => (/\.(csv|json|npy|svg)$/.test(word) ? join(folder, word) : word));
      const { code, stderr } = await run([...args, ...(words[0] === 'plot' ? [] : ['--device', 'reference'])]);
      assert.is(code, 0, `${command}: ${stderr}`);
    }
    const picture = svgTexts(readFileSync(join(folder, 'trees.svg'), 'utf8'));
    assert.equal(picture, svgTexts(read('docs/figures/trees.svg')), 'the page shows the picture that is drawn');

    // A newcomer's program is plain JavaScript for every supported Node: no `using`, no types.
    const program = text('ts').join('');
    const path = join(folder, 'trees.mjs');
    writeFileSync(path, program);
    assert.is((await runNode(['--check', path], env)).code, 0, 'plain JavaScript');
    const lib = JSON.stringify(moduleUrl('lib/index.ts'));
    const csv = JSON.stringify(join(folder, 'trees.csv'));
    writeFileSync(path, program.replace("from 'covarium'", `from ${lib}`).replace("'trees.csv'", csv));
    const { code, stdout, stderr } = await runNode([...nodeOptions, path], env);
    assert.is(code, 0, stderr);
    const [volume, share, count] = stdout.split('\n');
    const [mean, deviation] = volume!.match(/[\d.]+/g)!.map(Number);
    const printed = [`[ ${mean!.toFixed(2)} ] [ [ ${deviation!.toFixed(2)} ] ]`, share!, count!];
    for (const each of printed) assert.ok(program.includes(`// ${each}`), `the page says what is printed: ${each}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('The README begins with a program that every supported Node runs.', async () => {
  const [program] = blocksOf('README.md').filter(({ language }) => language === 'ts');
  const folder = mkdtempSync(join(tmpdir(), 'covarium-readme-'));
  try {
    const path = join(folder, 'readme.mjs');
    writeFileSync(path, program!.text);
    const { code, stderr } = await runNode(['--check', path]);
    assert.is(code, 0, stderr);
    assert.ok(read('README.md').split('\n').length <= 151, 'at most 150 lines');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
