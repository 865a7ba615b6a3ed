// The PTX of dist/cuda-kernels.bin: every operation is rounded once and as it is written, the params are those of
// msl/params.h, and its coded registers are restored.
import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cudaKernels } from '../../lib/addon/cuda-kernels.ts';
import { coded, makePtx } from '../../msl/cuda/embed.mjs';
import { program } from '../harness/program.ts';
import fc from '../harness/properties.ts';
import { isThere, read } from '../harness/source-text.ts';

const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
const restorer = program(
  'g++',
  ['-std=c++17', '-O1', ...sanitizers],
  ['objc/cuda/registers.cc', 'test/cuda/registers.cc'],
);

/** What objc/cuda/registers.cc makes of a text: another text, or the code and message of its refusal. */
function restored(text: string): { readonly text: string; readonly refusal: string } {
  if ('complaint' in restorer) throw new Error(restorer.complaint ?? 'There is no g++.');
  const { status, stdout, stderr } = spawnSync(restorer.path, { input: text, encoding: 'latin1', maxBuffer: 1 << 24 });
  assert.ok(status === 0 || status === 1, stderr);
  return { text: stdout, refusal: stderr };
}

// The first line names the sources.
const own = isThere('dist/cuda-kernels.bin') ? Buffer.from(cudaKernels()).toString().replace(/^.*\n/, '') : '';
const restoredOwn = own === '' ? '' : restored(own).text;
const at = restoredOwn.indexOf('.version', 1);
const [ptx, tensorPtx] = [restoredOwn.slice(0, at), restoredOwn.slice(at)];
const onPtx = (sentence: string, check: () => void): void => {
  if (ptx !== '') {
    test(sentence, check);
    return;
  }
  console.log(`skipped  cuda: ${sentence} There is no dist/cuda-kernels.bin.`);
  test.skip(sentence);
};

onPtx('All arithmetic is rounded to nearest, nothing is flushed or approximated.', () => {
  const operations =
    (ptx + tensorPtx).match(/^ ?(?:@\S+ )?(?:add|sub|mul|fma|mad|div|sqrt|rcp|rsqrt)\S*\.f(?:32|64)\b/gm) ?? [];
  assert.ok(operations.length > 200, `${operations.length}`);
  assert.equal(
    operations.filter((each) => !/\.rn\.f(?:32|64)$/.test(each)),
    [],
  );
  assert.not.match(ptx + tensorPtx, /\.(?:ftz|approx|full)\b/);
  assert.match(tensorPtx, /\bmma\.sync\.aligned\.m16n8k4\.row\.col\.f64\.f64\.f64\.f64 /);
  // All products of tiles are on tensor cores. The lanes' multiply-adds are those within a row of a panel, which has 16
  // entries; of a factor, also those of four squares of 4 x 4.
  const ofLanes = [...tensorPtx.matchAll(/\.entry (\w+)([\s\S]*?)(?=\.entry|$)/g)].map(([, kernel, text = '']) => [
    kernel,
    text.match(/\bfma\./g)?.length ?? 0,
  ]);
  assert.equal(ofLanes, [
    ['product_tiles_float64', 0],
    ['sample_tiles_float64', 0],
    ['solve_tiles_float64', (16 * 15) / 2],
    ['cholesky_below_float64', (16 * 15) / 2],
    ['cholesky_update_float64', (16 * 15) / 2 + 4 * 10],
  ]);
  assert.not.match(tensorPtx, /\.f32\b/);
});

onPtx('The params of each kernel have the size of their struct.', () => {
  const bytes = new Map(
    [...read('msl/params.h').matchAll(/struct (\w+) \{([^}]*)\}/g)].map(([, name, body]) => [
      name!,
      [...body!.replace(/\/\/.*/g, '').matchAll(/(uint|float|double) ([\w, ]+);/g)]
        .map(([, type, names]) => names!.split(',').length * (type === 'double' ? 8 : 4))
        .reduce((sum, bytes) => sum + bytes, 0),
    ]),
  );
  const kernels = [...read('msl/cuda/kernels.cu').matchAll(/KERNEL\((?:\d+, \d+, )?(\w+),[^)]*msl::(\w+) params\)/g)];
  const entriesOf = (text: string) => [...text.matchAll(/\.entry (\w+)/g)].map(([, kernel]) => kernel!);
  assert.equal(kernels.map(([, kernel]) => kernel).sort(), entriesOf(ptx).sort());
  const onTensorCores = entriesOf(tensorPtx);
  for (const [, kernel, params] of kernels)
    for (const text of onTensorCores.includes(kernel!) ? [ptx, tensorPtx] : [ptx]) {
      const [, entry = ''] = new RegExp(`\\.entry ${kernel}\\(([^)]*)\\)`).exec(text) ?? [];
      assert.is(Number(/\.b8 \S+\[(\d+)\]/.exec(entry)?.[1]), bytes.get(params!)!, kernel);
    }
});

onPtx('The registers are restored as they were, up to their numbers.', () => {
  assert.is(coded(restoredOwn), own);
  for (const kernel of restoredOwn.split('.visible')) {
    const declared = new Map([...kernel.matchAll(/%([a-z]+)<(\d+)>/g)].map(([, kind, count]) => [kind, Number(count)]));
    for (const [word, kind, number] of kernel.matchAll(/%([a-z]+)(\d+)/g))
      assert.ok(Number(number) < declared.get(kind)!, word);
  }
});

test('Registers are numbered in the order of their first use, for each kernel anew.', () => {
  const kernel = '.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\nmov %r7,%tid.x;\nadd %r3,%r7,%r7;\n@%r3 mul %rd2,%r7,%rd2;\n';
  const numbered = kernel.replaceAll('%r7', '%r0').replaceAll('%r3', '%r1').replaceAll('%rd2', '%rd0');
  assert.is(restored(coded(kernel + kernel)).text, numbered + numbered);
  for (const text of ['', '%', 'a %', '%%r', '100% x+', '%tid.x']) assert.is(restored(text).text, text);
});

test('A malformed text is refused, with the place.', () => {
  const declared = '%r<2>;';
  for (const [text, place] of [
    ['%r+', 2],
    ['%r0', 2],
    [`${declared}%r0`, 8],
    [`${declared}%r+%r1`, 11],
    [`${declared}%r+%r+%r+`, 14],
    [`${declared}%rd+`, 9],
    [`${declared}%r+%r${'9'.repeat(30)}`, 11],
    ['%r<', 3],
    ['%r<>', 3],
    ['%r<-1>', 3],
    [`%r<${'9'.repeat(30)}>`, 3],
  ] as const)
    assert.is(restored(text).refusal, `ERR_INTERNAL The text of the kernels is malformed at byte (${place}).`, text);
});

onPtx('A text of which bytes are changed is restored or refused, and no byte beyond it is read.', () => {
  const first = own.slice(0, own.indexOf('.visible', own.indexOf('.visible') + 1));
  fc.assert(
    fc.property(fc.nat(first.length), fc.nat(3), fc.constantFrom('', '%', '<', '+', '9', '%r'), (place, count, put) => {
      restored(first.slice(0, place) + put + (put === '' ? '' : first.slice(place + count)));
    }),
    { numRuns: 100 },
  );
});

test('Without clang there is a reason and no PTX.', () => {
  const env: NodeJS.ProcessEnv & { CLANGXX?: string | undefined } = process.env;
  const { CLANGXX: before } = env;
  env.CLANGXX = '/no/such/clang++';
  try {
    assert.equal(makePtx(), { ptx: '', tensorPtx: '', reason: 'No clang++ is found.' });
  } finally {
    if (before === undefined) delete env.CLANGXX;
    else env.CLANGXX = before;
  }
});

test.run();
