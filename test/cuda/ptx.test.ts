// The PTX that an addon holds: every operation is rounded once and as it is written, and the params are those of
// msl/params.h.
import { brotliDecompressSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import { header, makePtx } from '../../msl/cuda/embed.mjs';
import { read } from '../harness/source-text.ts';

const [ptx = '', tensorPtx = ''] = (loadAddon().addon?.compressedKernels() ?? []).map((text) =>
  brotliDecompressSync(text).toString(),
);
const onPtx = (sentence: string, check: () => void): void => {
  if (ptx !== '') {
    test(sentence, check);
    return;
  }
  console.log(`skipped  cuda: ${sentence} The addon has no PTX.`);
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

test('Without clang, the header has the reason and no PTX.', () => {
  const env: NodeJS.ProcessEnv & { CLANGXX?: string | undefined } = process.env;
  const { CLANGXX: before } = env;
  env.CLANGXX = '/no/such/clang++';
  try {
    const none = makePtx();
    assert.equal([none.ptx, none.tensorPtx], ['', '']);
    assert.match(none.reason, 'No clang++ was there');
    // prebuilds.mjs and release.yml look for these words, to find an addon without the device.
    assert.match(none.reason, 'when this addon was built');
    assert.match(header(none), 'noPtxReason[] = "No clang++');
  } finally {
    if (before === undefined) delete env.CLANGXX;
    else env.CLANGXX = before;
  }
});

test.run();
