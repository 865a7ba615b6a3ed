import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Values } from '../../lib/dtype.ts';
import { openReference } from '../../lib/reference/device.ts';
import { groupSizes, launch, normalParams, onCpu, onCpuAndMetal, rowParams } from '../harness/launch.ts';
import { counterOf, dot, guarded, hasSameBytes, isNear, scattered } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

onCpu('fill_normal gives the bytes of the stream for any threadgroup; too large a grid does no harm.', (device) => {
  for (const first of [0, 1, 3, 2 ** 34 - 6, 2 ** 40]) {
    for (const count of [0, 1, 2, 3, 5, 1000, 20_001]) {
      const expected = new Float32Array(count);
      const encoder = device.encoder();
      encoder.fillNormal(expected, counterOf(7, 3, first));
      encoder.commitSync();
      const threads = Math.floor(((first % 4) + count + 3) / 4);
      for (const group of groupSizes) {
        for (const grid of [threads, Math.ceil(threads / group) * group, threads + 5000]) {
          const out = guarded(new Float32Array(count));
          launch(device, 'fill_normal', [out.view, normalParams(first, count)], [grid, 1, 1], [group, 1, 1]);
          hasSameBytes(out.view, expected, `${count} from ${first} by ${group}`);
          out.isIntact('fill_normal');
        }
      }
    }
  }
});

onCpu('maps over matrices check that their place is inside first.', (device) => {
  for (const [rows, columns] of [
    [1, 1],
    [3, 5],
    [33, 7],
    [5, 5000],
    [129, 129],
  ] as const) {
    const [a, row] = [Float32Array.from(scattered(rows * columns, 1)), Float32Array.from(scattered(columns, 2))];
    for (const group of [...groupSizes.map((size) => [size, 1, 1]), [8, 8], [32, 32, 1], [1, 1000]]) {
      for (const beyond of [0, 1, 37]) {
        const out = guarded(a);
        const grid = [columns + beyond, rows + beyond, 1];
        launch(device, 'add_row', [out.view, row, rowParams(rows, columns, -0.75)], grid, group);
        out.view.forEach((value, at) => {
          const sum = dot(
            1,
            () => -0.75,
            () => row[at % columns]!,
            a[at],
          );
          isNear(value, sum, 2, 2 ** -23, `(${at}) of ${rows} x ${columns}`);
        });
        out.isIntact('add_row');
      }
    }
  }
});

onCpu('triangles are cleared and transposed as by the commands.', (device) => {
  for (const n of [1, 2, 7, 33, 130]) {
    const a = Float32Array.from(scattered(n * n, n));
    const [cleared, flipped] = [Float32Array.from(a), Float32Array.from(a)];
    const encoder = device.encoder();
    encoder.zeroUpper(cleared, n);
    encoder.antitranspose(flipped, n);
    encoder.commitSync();
    for (const group of groupSizes) {
      for (const beyond of [0, 3]) {
        const grid = [n + beyond, n + beyond, 1];
        for (const [kernel, expected] of [
          ['zero_upper', cleared],
          ['antitranspose', flipped],
        ] as const) {
          const out = guarded(a);
          launch(device, kernel, [out.view, Uint32Array.of(n, n)], grid, [group, 1, 1]);
          hasSameBytes(out.view, expected, `${kernel} of ${n}`);
          out.isIntact(kernel);
        }
      }
    }
  }
});

onCpu('squared_norms reduces with any number of lanes, one included.', (device) => {
  for (const [rows, columns] of [
    [0, 3],
    [1, 1],
    [1, 5000],
    [7, 31],
    [33, 33],
    [100, 8],
  ] as const) {
    const values = Float32Array.from(scattered(rows * columns, 3));
    for (const lanes of [...groupSizes, 3, 96, 1023]) {
      const out = guarded(new Float32Array(rows));
      const operands = [values, out.view, Uint32Array.of(rows, columns)];
      launch(device, 'squared_norms', operands, [rows * lanes, 1, 1], [lanes, 1, 1]);
      out.view.forEach((value, r) => {
        const at = (k: number) => values[r * columns + k]!;
        isNear(value, dot(columns, at, at), columns + 10, 2 ** -23, `row ${r} of ${rows} by ${lanes} lanes`);
      });
      out.isIntact('squared_norms');
    }
  }
});

onCpu('params are the bytes of any typed array, and an empty grid runs nothing.', (device) => {
  const params = normalParams(0, 8);
  const bytes = new Uint8Array(params.buffer);
  const [a, b] = [new Float32Array(8), new Float32Array(8)];
  launch(device, 'fill_normal', [a, params], [2], [2]);
  launch(device, 'fill_normal', [b, bytes], [2, 1, 1], [1, 1, 1]);
  hasSameBytes(a, b, 'normals');
  const untouched = Float32Array.from(a);
  for (const grid of [[0], [0, 1, 1], [2, 0, 1], [2, 1, 0]])
    launch(device, 'add_row', [untouched, a, rowParams(1, 8, 1)], grid, [1, 1, 1]);
  hasSameBytes(untouched, a, 'rows');
});

onCpuAndMetal(
  'a launch that does not fit its kernel is refused with the code for it, and the device goes on.',
  async (device) => {
    const [a, row, out] = [new Float32Array(64), new Float32Array(8), new Float32Array(8)];
    const [params, matrix] = [normalParams(0, 64), Uint32Array.of(8, 8)];
    type Case = [string, Values[], number[], number[]];
    const refused: Record<'ERR_INVALID_ARGUMENT' | 'ERR_OUT_OF_RANGE', Case[]> = {
      ERR_INVALID_ARGUMENT: [
        ['no_such_kernel', [a, params], [16, 1, 1], [16, 1, 1]],
        ['', [], [1, 1, 1], [1, 1, 1]],
        ['fill_normal', [], [16, 1, 1], [16, 1, 1]],
        ['fill_normal', [a], [16, 1, 1], [16, 1, 1]],
        ['fill_normal', [params], [16, 1, 1], [16, 1, 1]],
        ['fill_normal', [a, row, params], [16, 1, 1], [16, 1, 1]],
        ['fill_normal', [a, matrix], [16, 1, 1], [16, 1, 1]],
        ['fill_normal', [a, new Uint8Array(27)], [16, 1, 1], [16, 1, 1]],
        ['fill_normal', [a, new Uint32Array(8)], [16, 1, 1], [16, 1, 1]],
        ['add_row', [a, row, matrix], [8, 8, 1], [8, 1, 1]],
        ['squared_norms', [a, matrix], [64, 1, 1], [8, 1, 1]],
        ['squared_norms', [a, out, row, matrix], [64, 1, 1], [8, 1, 1]],
        ['sample_rows', [a, row, a, matrix], [64, 1, 1], [8, 1, 1]],
      ],
      ERR_OUT_OF_RANGE: [
        ['fill_normal', [a, params], [16, 1, 1], [0, 1, 1]],
        ['fill_normal', [a, params], [16, 1, 1], [1025, 1, 1]],
        ['fill_normal', [a, params], [16, 1, 1], [4294967295, 4294967295, 4294967295]],
        ['fill_normal', [a, params], [-1, 1, 1], [1, 1, 1]],
        ['fill_normal', [a, params], [4294967296, 1, 1], [1, 1, 1]],
        ['fill_normal', [a, params], [Number.NaN, 1, 1], [1, 1, 1]],
        ['zero_upper', [a, matrix], [8, 8, 1], [33, 32, 1]],
        ['zero_upper', [a, matrix], [8, 8, 1], [8, 0, 1]],
        ['squared_norms', [a, out, matrix], [63, 1, 1], [8, 1, 1]],
        ['squared_norms', [a, out, matrix], [8, 8, 1], [8, 1, 1]],
        ['squared_norms', [a, out, matrix], [64, 1, 1], [8, 2, 1]],
        ['squared_norms', [a, out, matrix], [64, 1, 1], [1025, 1, 1]],
        // 32 KB of threadgroup memory and 4 bytes; numbers of rows and columns that wrap when multiplied.
        ['sample_rows', [a, row, a, Uint32Array.of(0, 0, 0, 0, 0, 0, 1, 1, 8192, 0)], [8, 1, 1], [8, 1, 1]],
        ['sample_rows', [a, row, a, Uint32Array.of(0, 0, 0, 0, 0, 0, 1, -1, -1, 0)], [8, 1, 1], [8, 1, 1]],
        ['sample_batch', [a, row, a, Uint32Array.of(0, 0, 0, 0, 0, 0, 1, 1, 1, 8192)], [8, 1, 1], [8, 1, 1]],
        ['cholesky_batch', [a, row, Uint32Array.of(1, -1, -1, 0)], [8, 1, 1], [8, 1, 1]],
        ['cholesky_batch', [a, row, Uint32Array.of(1, 90, 1, 0)], [8, 1, 1], [8, 1, 1]],
      ],
    };
    for (const code of ['ERR_INVALID_ARGUMENT', 'ERR_OUT_OF_RANGE'] as const)
      for (const [kernel, operands, grid, group] of refused[code]) {
        const error = await throwsCode(code, () => launch(device, kernel, operands, grid, group));
        assert.match(error.message, /\(.*\)/, 'a refusal shows the value');
      }
    launch(device, 'fill_normal', [a, params], [16, 1, 1], [16, 1, 1]);
    assert.ok(a.every((value) => value !== 0));
  },
);

onCpu('a launch is refused when it is recorded, and the commands beside it still run.', async (device) => {
  const out = new Float32Array(4);
  const encoder = device.encoder();
  await throwsCode('ERR_INVALID_ARGUMENT', () => encoder.launch('no_such_kernel', [], [1], [1]));
  encoder.launch('fill_normal', [out, normalParams(0, 4)], [1], [1]);
  await encoder.commit();
  assert.ok(out.every((value) => value !== 0));
});

test('A device without kernels says so.', async () => {
  const device = openReference();
  await throwsCode('ERR_UNSUPPORTED', () =>
    launch(device, 'fill_normal', [new Float32Array(4), normalParams(0, 4)], [1], [1]),
  );
  device.close();
});

test.run();
