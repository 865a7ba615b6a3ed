// Every example: one with a kernel agrees with plain TypeScript on each device that runs kernels; if it computes with
// whole numbers (or rounds once), its bytes are the same on all of them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode } from 'fast-png';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { modulePath, nodeOptions } from '../harness/child.ts';
import { isSoftMetal, kindsHere } from '../harness/every-device.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Run {
  readonly status: number | null;
  readonly text: string;
  /** Files that it wrote, by name. */
  readonly files: ReadonlyMap<string, Buffer>;
}

function runExample(...args: string[]): Run {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-example-'));
  try {
    const command = [...nodeOptions, modulePath('examples/run.ts'), ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, {
      cwd: folder,
      encoding: 'utf8',
      timeout: 300_000,
    });
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
    return {
      status,
      text: stdout + stderr,
      files: new Map(names.map((name) => [name, readFileSync(join(folder, name))])),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Example {
  readonly name: string;
  readonly options: readonly string[];
  /** How many results are checked, and how many of each. */
  readonly checks: readonly [count: number, numbers: number];
  /** SHA-256 of the result, if every device gives the same bytes: observed on cpu, with clang++ and with g++. */
  readonly digest?: string;
  /** The picture on the example's page that shows this run. */
  readonly picture?: string;
}

const examples: readonly Example[] = [
  {
    name: 'vector-addition',
    options: [],
    checks: [1, 100_000],
    digest: '57f62d0aa2c8dc58f0f0618067b58d7080274d8a554e0c37ec76e4a9f9c3a1e2',
  },
  { name: 'row-sums', options: [], checks: [1, 1200] },
  {
    name: 'grayscale',
    options: ['--shrink', '4'],
    checks: [1, 52_224],
    digest: '5c97c449e93d2fb9fa1a3bccb89dce7a4256b9da30d4a71c424b1cffc2140c4c',
    picture: 'grayscale.png',
  },
  {
    name: 'laplacian',
    options: ['--shrink', '4'],
    checks: [1, 52_224],
    digest: '6a0334761ef23c7b8d3947cfcaa501854f5b9805d63934d2747f00a350e191d9',
    picture: 'laplacian.png',
  },
  {
    name: 'mandelbrot',
    options: ['--width', '480'],
    checks: [1, 153_600],
    digest: '8e901d4dd260a136f6c5dd64e13dcfa6ff567e75f8a97473703853e0de355996',
    picture: 'mandelbrot.png',
  },
  { name: 'matrix-product', options: ['--dimension', '37', '--time', '5'], checks: [4, 1369] },
  {
    name: 'life',
    options: [],
    checks: [1, 40_960],
    digest: 'b56d7feb1820641a100aafba482ccd4c67463e8034fa016b75410329fac22c85',
    picture: 'life.png',
  },
  {
    name: 'n-body',
    options: [],
    checks: [1, 1024],
    digest: '73784cbeccc757328ac7ef350f467c662b98072398d5d30cb9a0aa188ddbd809',
    picture: 'n-body.png',
  },
];

test('Every example with a kernel is in this list, and has a page.', () => {
  const names = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.metal'));
  assert.equal(names.sort(), examples.map(({ name }) => `${name}.metal`).sort());
  for (const { name } of examples) {
    const page = readFileSync(join(root, 'docs/examples', `${name}.md`), 'utf8');
    assert.ok(page.includes(`npm run example -- ${name}`), name);
  }
});

for (const kind of kindsHere.filter((each) => each !== 'reference'))
  for (const { name, options, checks, digest, picture } of examples)
    test(`${kind}: ${name} agrees with plain TypeScript.`, () => {
      const { status, text, files } = runExample(name, '--device', kind, ...options);
      assert.is(status, 0, text);
      assert.match(text, `device   ${kind}: `);
      assert.is(text.match(/^check {4}/gm)?.length, checks[0], text);
      const exact = `the ${checks[1]} numbers of plain TypeScript, to the bit`;
      const near = `plain TypeScript's ${checks[1]} numbers within rounding: .*`;
      assert.is(text.match(new RegExp(`: (?:${exact}|${near})$`, 'gm'))?.length, checks[0], text);
      if (digest === undefined) assert.not.match(text, 'SHA-256');
      else assert.ok(text.includes(exact) && text.includes(`SHA-256 ${digest}\n`), text);
      assert.equal([...files.keys()], picture === undefined ? [] : [join('out', picture)]);
      if (picture === undefined) return;
      const committed = readFileSync(join(root, 'docs/examples', picture));
      assert.ok(committed.length < 60_000, 'a picture of the documentation is small');
      const [ours, theirs] = [decode(files.get(join('out', picture))!), decode(committed)];
      assert.equal([ours.width, ours.height, ours.channels], [theirs.width, theirs.height, theirs.channels]);
      assert.equal(Buffer.from(ours.data.buffer), Buffer.from(theirs.data.buffer), 'the page shows what the run gives');
    });

// The examples that use distributions, with less work than by default.
const models: readonly { readonly name: string; readonly options: readonly string[]; readonly says: RegExp }[] = [
  { name: 'value-at-risk', options: ['--count', '20000'], says: /^Student-t, 4 degrees +value at risk \(99%\) +\d/m },
  { name: 'digits', options: ['--train', '12', '--draws', '2'], says: /^accuracy +\d+\.\d\d% of 8\d{3} digits/m },
  { name: 'kalman-bank', options: ['--side', '20'], says: /^bank +400 filters, 200 steps/m },
  { name: 'kalman-filter', options: ['--steps', '12'], says: /^error +\d.* filtered/m },
  { name: 'pca', options: [], says: /^share of the variance +0\.688 +0\.193 +0\.091 +0\.027$/m },
  { name: 'species', options: [], says: /^right +99\.1% of 342$/m },
];

for (const kind of kindsHere)
  for (const { name, options, says } of models) {
    // Ten densities of 784 dimensions take plain TypeScript a minute, and the stand-in for Metal half of one.
    if (name === 'digits' && (kind === 'reference' || (kind === 'metal' && isSoftMetal))) {
      console.log(`skipped  ${kind}: digits, which takes too long there`);
      continue;
    }
    test(`${kind}: ${name} passes its own check, and has a page.`, () => {
      const { status, text } = runExample(name, '--device', kind, ...options);
      assert.is(status, 0, text);
      assert.match(text, `device   ${kind}: `);
      assert.match(text, says);
      assert.match(text, /^check {4}.* of what is allowed$/m);
      const page = readFileSync(join(root, 'docs/examples', `${name}.md`), 'utf8');
      assert.ok(page.includes(`npm run example -- ${name}`), name);
    });
  }

// Mandelbrot and the Laplacian have the bytes of the kernels in Metal.
for (const kind of kindsHere)
  test(`${kind}: the kernels in TypeScript agree with plain TypeScript.`, () => {
    const { status, text, files } = runExample('typescript-kernels', '--device', kind);
    assert.is(status, 0, text);
    for (const name of ['mandelbrot', 'laplacian']) {
      const { digest } = examples.find((each) => each.name === name)!;
      assert.ok(text.includes(`${name}: SHA-256 ${digest}\n`), text);
    }
    assert.is(text.match(/^check {4}\w+: the \d+ numbers of plain TypeScript, to the bit$/gm)?.length, 4, text);
    const [ours, theirs] = [
      decode(files.get(join('out', 'life.png'))!),
      decode(readFileSync(join(root, 'docs/examples/typescript-kernels.png'))),
    ];
    assert.equal(Buffer.from(ours.data.buffer), Buffer.from(theirs.data.buffer), 'the page shows what the run gives');
  });

if (kindsHere.includes('cpu'))
  test('In check mode the examples read and write only their own memory.', () => {
    for (const [name, ...options] of [
      ['vector-addition', '--length', '1000'],
      ['row-sums', '--width', '9', '--height', '7', '--depth', '3'],
      ['grayscale', '--shrink', '40'],
      ['laplacian', '--shrink', '40'],
      ['mandelbrot', '--width', '40'],
      ['matrix-product', '--dimension', '18', '--time', '1'],
    ] as const) {
      const { status, text } = runExample(name, '--device', 'cpu', '--check', ...options);
      assert.is(status, 0, text);
      assert.match(text, /^check /m);
    }
  });

if (kindsHere.includes('reference'))
  test('The reference device refuses, in one line.', () => {
    const { status, text } = runExample('vector-addition', '--device', 'reference');
    assert.is(status, 1);
    assert.match(text, 'The reference device does not run kernels (reference): open metal or cpu. [ERR_UNSUPPORTED]\n');
    assert.not.match(text, / at .*\.ts:/);
  });

// These are refused before a device is opened, so once is enough.
if (kindsHere.includes('reference'))
  test('A wrong name or option is refused, with the list of the right ones.', () => {
    for (const [args, said] of [
      [
        [],
        'grayscale, kalman-bank, kalman-filter, laplacian, life, mandelbrot, matrix-product, n-body, pca, row-sums, species, typescript-kernels, value-at-risk, vector-addition.',
      ],
      [['../lib/index'], 'There is no example of this name (../lib/index).'],
      [['laplacian', '--shrink', '0'], 'Option (--shrink) is (0), not a whole number from 1 on. [ERR_OUT_OF_RANGE]'],
      [['laplacian', '--size', '1'], "Unknown option '--size'"],
      [['row-sums', '--device', 'abacus'], "('abacus')"],
    ] as const) {
      const { status, text } = runExample(...args);
      assert.is(status, 1, text);
      assert.ok(text.includes(said), text);
      assert.not.match(text, / at .*\.ts:/);
    }
  });

test.run();
