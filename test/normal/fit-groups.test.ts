import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type FitGroupsOptions, Matrix, MultivariateNormal, MultivariateNormalBatch } from '../../lib/index.ts';
import { fitGroups } from '../../lib/normal/fit-groups.ts';
import { onEveryDevice, onEveryType } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

const fits: readonly ((options: FitGroupsOptions) => MultivariateNormalBatch | Promise<MultivariateNormalBatch>)[] = [
  MultivariateNormalBatch.fit,
  MultivariateNormalBatch.fitSync,
];

const n = 3;
const count = 120;
const groups = 4;
const labels = Array.from({ length: count }, (_, row) => (row * 7 + (row % 5)) % groups);
const values = scattered(count * n, 1).map((value, at) => value * 10 ** (at % n) + 5 * labels[Math.floor(at / n)]!);
const rows = Array.from({ length: count }, (_, row) => Array.from(values.subarray(row * n, (row + 1) * n)));

onEveryType('each group is fitted like its rows alone.', async (device, dtype, tolerance) => {
  for (const ddof of [undefined, 0, 2])
    for (const given of [rows, Matrix.from(rows, { dtype: 'float64' })])
      for (const making of fits) {
        using batch = await making({ device, dtype, rows: given, labels, ddof });
        assert.equal([batch.size, batch.dimension, batch.dtype], [groups, n, dtype]);
        for (let b = 0; b < groups; b++) {
          const own = rows.filter((_, row) => labels[row] === b);
          using alone = MultivariateNormal.fitSync({ device, dtype, rows: own, ddof });
          for (const part of ['mean', 'covariance'] as const) {
            const of = (normal: MultivariateNormal) =>
              part === 'mean' ? normal.mean.data : normal.covarianceSync().data;
            const [actual, wanted] = [of(batch.at(b)), of(alone)];
            const size = Math.max(...Array.from(wanted, Math.abs));
            for (let i = 0; i < wanted.length; i++)
              assert.ok(Math.abs(actual[i]! - wanted[i]!) <= tolerance * size, `${part} of group (${b}), entry (${i})`);
          }
        }
      }
});

onEveryDevice('a fit of groups reads its rows and labels before it returns.', async (device) => {
  const many = 40_000;
  const data = scattered(many * n, 2);
  const own = Float64Array.from({ length: many }, (_, row) => row % groups);
  using wanted = MultivariateNormalBatch.fitSync({ device, rows: Matrix.from(data, { columns: n }), labels: own });
  const given = Matrix.from(data.slice(), { columns: n });
  const pending = MultivariateNormalBatch.fit({ device, rows: given, labels: own });
  given.close();
  own.fill(-1);
  using batch = await pending;
  for (let b = 0; b < groups; b++)
    assert.equal(batch.at(b).covarianceSync().data, wanted.at(b).covarianceSync().data, `group (${b})`);
});

onEveryDevice('groups are sorted in slices.', (device) => {
  const many = 40_000;
  const own = Float64Array.from({ length: many }, (_, row) => row % groups);
  const tasks = fitGroups({ device, rows: Matrix.from(scattered(many * n, 2), { columns: n }), labels: own });
  let slices = 0;
  while (tasks.next().value === undefined) slices++;
  assert.ok(slices > (3 * many) / 500, `(${slices}) slices`);
  tasks.return(undefined as never);
});

onEveryDevice('groups that cannot be fitted are refused, and leave nothing behind.', async (device) => {
  const before = device.memory().liveBytes;
  const good = { device, rows, labels };
  const collinear = rows.map((row, at) => (labels[at] === 2 ? [row[0]!, 2 * row[0]!, row[2]!] : row));
  for (const [code, shown, options] of [
    ['ERR_SHAPE', '(119) entries', { ...good, labels: labels.slice(1) }],
    ['ERR_SHAPE', '`labels` has group (4) of (1) rows', { ...good, labels: labels.with(9, 4) }],
    ['ERR_SHAPE', '`labels` has group (4) of (0) rows', { ...good, labels: labels.with(9, 5) }],
    ['ERR_SHAPE', '`labels` has group (0) of (0) rows', { device, rows: Matrix.from([], { columns: n }), labels: [] }],
    ['ERR_SHAPE', 'ddof (40)', { ...good, ddof: 40 }],
    ['ERR_OUT_OF_RANGE', '`labels[3]` is (-1)', { ...good, labels: labels.with(3, -1) }],
    ['ERR_OUT_OF_RANGE', '`labels[3]` is (0.5)', { ...good, labels: labels.with(3, 0.5) }],
    ['ERR_OUT_OF_RANGE', '`labels[3]` is (1000000)', { ...good, labels: labels.with(3, 1e6) }],
    ['ERR_OUT_OF_RANGE', '(-1)', { ...good, ddof: -1 }],
    ['ERR_NOT_FINITE', '`rows` entry (7, 1)', { ...good, rows: rows.with(7, [0, Number.NaN, 0]) }],
    [
      'ERR_OUT_OF_RANGE',
      '`rows` of group (0) are too large',
      { ...good, rows: rows.map((row) => row.map((x) => x * 1e200)) },
    ],
    ['ERR_NOT_POSITIVE_DEFINITE', 'which in group (2) is', { ...good, rows: collinear, dtype: 'float32' }],
    [
      'ERR_OUT_OF_RANGE',
      '`rows` has column (1), whose numbers in group (0) differ by',
      { ...good, rows: rows.map((row) => row.with(1, row[1]! * 1e-170)) },
    ],
    ['ERR_INVALID_ARGUMENT', '`labels` is missing', { device, rows } as unknown as FitGroupsOptions],
    ['ERR_INVALID_ARGUMENT', '`labels` entry (0)', { ...good, labels: labels.map(String) as unknown as number[] }],
    ['ERR_UNKNOWN_OPTION', 'label', { ...good, label: 1 } as FitGroupsOptions],
  ] as const) {
    await throwsCode(code, shown, () => MultivariateNormalBatch.fit(options));
    await throwsCode(code, shown, () => MultivariateNormalBatch.fitSync(options));
    assert.is(device.memory().liveBytes, before, shown);
  }
});

onEveryDevice(
  'A column of a group that others determine is refused, whatever rounding errors remain.',
  async (device) => {
    for (let table = 1; table <= 40; table++) {
      const rows = Array.from({ length: 14 }, (_, i) => {
        const [a, b] = [Math.sin(7 * i * table + 1), 3 * Math.cos(i * i * table)];
        return [a, b, i % 2 === 0 ? Math.sin(i * i) : a + b];
      });
      const labels = rows.map((_, i) => i % 2);
      const { matrix, pivot } = await throwsCode(
        'ERR_NOT_POSITIVE_DEFINITE',
        '`rows` has column (2), which in group (1)',
        () => MultivariateNormalBatch.fit({ device, rows, labels }),
      );
      assert.equal([matrix, pivot], [1, 2]);
    }
  },
);

test.run();
