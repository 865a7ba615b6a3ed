// The samplers that make tiles in registers have the bits of sample_rows.
import { test } from 'uvu';
import type { Backend } from '../../lib/backend.ts';
import { launch, onCpu } from '../harness/launch.ts';
import { counterOf, guarded, hasSameBytes, lowerFactor, scattered } from '../harness/naive.ts';

const [seed, stream] = [7, 3];

function drawn(
  device: Backend,
  kernel: string,
  [factor, mean]: readonly [Float32Array, Float32Array],
  { first, count, rowsPerGroup }: { first: number; count: number; rowsPerGroup: number },
  lanes: number,
): Float32Array {
  const n = mean.length;
  const out = guarded(new Float32Array(count * n).fill(Number.NaN));
  const params = Uint32Array.of(...counterOf(seed, stream, first), count, n, rowsPerGroup, 0);
  const threads = (Math.ceil(count / rowsPerGroup) + 1) * lanes;
  launch(device, kernel, [factor, mean, out.view, params], [threads, 1, 1], [lanes, 1, 1]);
  out.isIntact(kernel);
  return out.view as Float32Array;
}

const modelOf = (n: number) =>
  [Float32Array.from(lowerFactor(n, n, Number.NaN)), Float32Array.from(scattered(n, 9))] as const;

onCpu('sample_narrow gives the bits of sample_rows for any number of columns that it takes.', (device) => {
  // Beyond 88, its memory is more than Apple's GPUs have.
  for (const n of [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 33, 63, 64, 81, 88])
    for (const first of [0, 2, 2 ** 34 - 5])
      for (const [count, rowsPerGroup] of [
        [1, 1],
        [70, 64],
        [301, 130],
      ] as const) {
        const run = { first, count, rowsPerGroup };
        const expected = drawn(device, 'sample_rows', modelOf(n), { ...run, rowsPerGroup: 4 }, 32);
        const actual = drawn(device, 'sample_narrow', modelOf(n), run, 128);
        hasSameBytes(actual, expected, `${n} columns, ${count} rows from ${first}`);
      }
});

onCpu('Beyond 112 columns, or with other lanes, sample_narrow writes nothing.', (device) => {
  for (const [n, lanes] of [
    [113, 128],
    [8, 64],
  ] as const) {
    const untouched = new Float32Array(3 * n).fill(Number.NaN);
    const run = { first: 0, count: 3, rowsPerGroup: 3 };
    hasSameBytes(drawn(device, 'sample_narrow', modelOf(n), run, lanes), untouched, `${n} columns, ${lanes} lanes`);
  }
});

onCpu('sample_tiles gives the bits of sample_rows too, of rows that fill no tile.', (device) => {
  for (const [n, count] of [
    [1, 3],
    [16, 129],
    [63, 130],
    [64, 5],
  ] as const) {
    const [factor, mean] = modelOf(n);
    const expected = drawn(device, 'sample_rows', [factor, mean], { first: 5, count, rowsPerGroup: 4 }, 32);
    const [z, out] = [new Float32Array(count * n), guarded(new Float32Array(count * n).fill(Number.NaN))];
    const encoder = device.encoder();
    encoder.fillNormal(z, counterOf(seed, stream, 5));
    encoder.commitSync();
    const groups = Math.ceil(count / 128) * Math.ceil(n / 128);
    launch(
      device,
      'sample_tiles',
      [factor, mean, z, out.view, Uint32Array.of(count, n)],
      [groups * 256, 1, 1],
      [256, 1, 1],
    );
    out.isIntact('sample_tiles');
    hasSameBytes(out.view as Float32Array, expected, `${n} columns, ${count} rows`);
  }
});

test.run();
