import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Device,
  type ErrorCode,
  Matrix,
  MultivariateNormal,
  openDevice,
  type RealDtype,
  Vector,
} from '../../lib/index.ts';
import { cdf } from '../../lib/probability/standard-normal.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { lowerFactor, scattered } from '../harness/naive.ts';
import { near } from '../harness/near.ts';
import { openPretendGpu } from '../harness/pretend-gpu.ts';
import { identity, realDtypes } from '../harness/some-normals.ts';
import { throwsCode } from '../harness/throws-code.ts';

const mean = [1, -1];

const covariance = [
  [4, 2],
  [2, 5],
];

// Its factor is (2, 0; 1, 2), exactly.
const z = [
  [3, -2],
  [0.5, 1],
];

const moved = [
  [7, -2],
  [2, 1.5],
];

onEveryDevice('mean + L z comes from a covariance in one call, for one z or for rows.', async (device) => {
  for (const dtype of device.dtypes as RealDtype[]) {
    const options = { device, dtype, mean, covariance };
    for (const one of [z[0]!, Float32Array.from(z[0]!), new Float64Array(z[0]!), Vector.from(z[0]!)]) {
      const y = await MultivariateNormal.transform({ ...options, z: one });
      assert.instance(y, Vector);
      assert.is(y.dtype, dtype);
      assert.equal(y.toArray(), moved[0]);
      assert.equal(MultivariateNormal.transformSync({ ...options, z: one }).toArray(), moved[0]);
    }
    for (const rows of [z, Matrix.from(z), z.map((row) => Float64Array.from(row))]) {
      const y = await MultivariateNormal.transform({ ...options, z: rows });
      assert.instance(y, Matrix);
      assert.equal(y.toArray(), moved);
      assert.equal(MultivariateNormal.transformSync({ ...options, z: rows }).toArray(), moved);
    }
    const single = MultivariateNormal.transformSync({ ...options, z: [z[0]!] });
    assert.instance(single, Matrix);
    assert.equal(single.toArray(), [moved[0]]);
    assert.equal(MultivariateNormal.transformSync({ device, dtype, covariance, z: z[0]! }).toArray(), [6, -1]);
  }
});

onEveryDevice('the timings of the one commit say where the factor was made.', async (device) => {
  const { timings } = await MultivariateNormal.transform({ device, covariance, z: [1, 2], factor: 'cpu' });
  assert.is(timings!.factor, 'cpu');
  assert.ok(timings!.wallMs >= 0);
  const onGpu = () => MultivariateNormal.transformSync({ device, mean, covariance, z: z[0]!, factor: 'gpu' });
  if (device.kind !== 'metal' && device.kind !== 'cuda') {
    await throwsCode('ERR_UNSUPPORTED', "(factor: 'gpu')", onGpu);
    return;
  }
  assert.is(onGpu().timings!.factor, 'gpu');
  assert.equal(onGpu().toArray(), moved[0]);
});

onEveryDevice('dimension 1 and zero rows work like any other.', async (device) => {
  assert.equal(MultivariateNormal.transformSync({ device, mean: [3], covariance: [[4]], z: [5] }).toArray(), [13]);
  const column = await MultivariateNormal.transform({ device, covariance: [[4]], z: [[1], [2], [3]] });
  assert.equal(column.toArray(), [[2], [4], [6]]);
  for (const none of [[] as number[][], Matrix.from([], { columns: 2 })]) {
    const empty = await MultivariateNormal.transform({ device, covariance, z: none });
    assert.equal([empty.rows, empty.columns], [0, 2]);
  }
});

onEveryDevice('a kept normal gives the same, up to rounding.', async (device) => {
  for (const n of [1, 2, 3, 31, 32, 33, 130]) {
    const factor = lowerFactor(n, n);
    const square = Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => {
        let sum = 0;
        for (let k = 0; k <= Math.min(i, j); k++) sum += factor[i * n + k]! * factor[j * n + k]!;
        return sum;
      }),
    );
    const options = { device, mean: [...scattered(n, 2)], covariance: square };
    using normal = await MultivariateNormal.fromCovariance(options);
    for (const count of [1, 5]) {
      const rows = Array.from({ length: count }, (_, row) => [...scattered(n, row + 3)]);
      const kept = normal.transformSync(rows).data;
      const anew = MultivariateNormal.transformSync({ ...options, z: rows }).data;
      assert.is(anew.length, count * n);
      for (let i = 0; i < kept.length; i++)
        assert.ok(Math.abs(kept[i]! - anew[i]!) <= 1e-5 * n, `${count} x ${n} at ${i}: ${kept[i]}, ${anew[i]}`);
    }
  }
});

onEveryDevice('what cannot be transformed is refused, and leaves nothing behind.', async (device) => {
  const before = device.memory().liveBytes;
  const good = { device, mean, covariance, z: [1, 2] };
  const bad: [code: ErrorCode, value: string, options: object][] = [
    ['ERR_INVALID_ARGUMENT', '(undefined)', { device: undefined }],
    ['ERR_INVALID_ARGUMENT', '(undefined)', { z: undefined }],
    ['ERR_INVALID_ARGUMENT', '(undefined)', { covariance: undefined }],
    ['ERR_UNKNOWN_OPTION', '(sigma)', { sigma: 1 }],
    ['ERR_SHAPE', '(3)', { z: [1, 2, 3] }],
    ['ERR_SHAPE', '(4)', { z: new Float32Array(4) }],
    ['ERR_SHAPE', '(3)', { mean: [0, 0, 0] }],
    ['ERR_SHAPE', '(1)', { covariance: [[1, 2]] }],
    ['ERR_NOT_FINITE', 'NaN', { z: [Number.NaN, 1] }],
    ['ERR_NOT_FINITE', '`mean` entry (0)', { mean: [Number.NaN, 1] }],
    [
      'ERR_OUT_OF_RANGE',
      '(1e+39)',
      {
        covariance: [
          [1, 0],
          [0, 1e39],
        ],
      },
    ],
    [
      'ERR_NOT_SYMMETRIC',
      '0.25',
      {
        covariance: [
          [1, 0.5],
          [0.25, 1],
        ],
      },
    ],
    [
      'ERR_NOT_POSITIVE_DEFINITE',
      '(1)',
      {
        covariance: [
          [1, 2],
          [2, 1],
        ],
      },
    ],
    ['ERR_OUT_OF_RANGE', '(-1)', { symmetryTolerance: -1 }],
    ['ERR_INVALID_ARGUMENT', "('both')", { factor: 'both' }],
    ['ERR_INVALID_ARGUMENT', "('float16')", { dtype: 'float16' }],
    ['ERR_UNSUPPORTED_DTYPE', '(int32)', { dtype: 'int32' }],
  ];
  for (const [code, value, options] of bad) {
    const all = { ...good, ...options } as typeof good;
    await throwsCode(code, value, () => MultivariateNormal.transform(all));
    await throwsCode(code, value, () => MultivariateNormal.transformSync(all));
    assert.is(device.memory().liveBytes, before, value);
  }
  const pivot = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(1)', () =>
    MultivariateNormal.transform({
      ...good,
      covariance: [
        [1, 2],
        [2, 1],
      ],
    }),
  );
  assert.is(pivot.pivot, 1);
  const lax = MultivariateNormal.transformSync({
    ...good,
    covariance: [
      [4, 2.5],
      [2, 5],
    ],
    symmetryTolerance: 0.5,
  });
  assert.equal(lax.toArray(), [3, 4], 'the lower triangle counts');
});

onEveryDevice('inputs are not changed, and large ones leave no memory behind.', async (device) => {
  const n = 600;
  const large = Matrix.from(new Float32Array(n * n), { columns: n });
  for (let i = 0; i < n; i++) large.row(i)[i] = 4;
  const before = device.memory().liveBytes;
  const normals = new Float64Array(n * n).fill(0.5);
  const y = await MultivariateNormal.transform({ device, covariance: large, z: Matrix.from(normals, { columns: n }) });
  assert.ok(y.data.every((value) => value === 1));
  assert.ok(normals.every((value) => value === 0.5) && large.get(7, 7) === 4 && large.get(7, 6) === 0);
  y.close();
  assert.is(device.memory().liveBytes, before);
});

onEveryDevice('a closed device refuses, and a commit in flight as it closes settles.', async (device) => {
  const pending = MultivariateNormal.transform({ device, covariance, z: [1, 2] });
  device.close();
  const outcome = await pending.then(
    () => 'ran',
    ({ code }) => code,
  );
  assert.ok(['ran', 'ERR_ABORTED', 'ERR_CLOSED'].includes(outcome), outcome);
  await throwsCode('ERR_CLOSED', device.name, () => MultivariateNormal.transform({ device, covariance, z: [1, 2] }));
  await throwsCode('ERR_CLOSED', device.name, () =>
    MultivariateNormal.transformSync({ device, covariance, z: [1, 2] }),
  );
});

const pipeline = 'requireFinite, requireSymmetric, cholesky';

const rowVerbs = 'copy, triangularProduct, addRow';

test('The whole pipeline is one commit: for one z by a product with a vector and a sum.', async () => {
  const { device, commits } = openPretendGpu();
  const options = { device, mean, covariance, factor: 'gpu' } as const;
  const y = await MultivariateNormal.transform({ ...options, z: z[0]! });
  assert.equal(y.toArray(), moved[0]);
  assert.is(y.timings!.factor, 'gpu');
  assert.equal(MultivariateNormal.transformSync({ ...options, z }).toArray(), moved);
  assert.equal(commits, [`${pipeline}, product, sum`, `${pipeline}, ${rowVerbs}`]);
  device.close();
});

test('A normal with a factor from the GPU uses the same commands for one z; one from the CPU uses those for rows.', async () => {
  const { device, commits } = openPretendGpu();
  const verbsOf = (normal: MultivariateNormal): string[] => {
    commits.length = 0;
    assert.equal(normal.transformSync(z[0]!).toArray(), moved[0]);
    assert.equal(normal.transformSync(z).toArray(), moved);
    return commits;
  };
  const kept = async (factor: 'cpu' | 'gpu'): Promise<MultivariateNormal> => {
    const normal = await MultivariateNormal.fromCovariance({ device, mean, covariance, factor });
    assert.is(normal.timings.factor, factor);
    return normal;
  };
  assert.equal(verbsOf(await kept('gpu')), ['requireFinite, product, sum', `requireFinite, ${rowVerbs}`]);
  assert.equal(verbsOf(await kept('cpu')), Array(2).fill(`requireFinite, ${rowVerbs}`));
  device.close();
});

onEveryDevice(
  'a normal tells where its factor was made, and a place that does not exist is refused.',
  async (device: Device) => {
    const rows = [
      [1, 2],
      [2, 1],
      [4, 4],
      [0, 1],
    ];
    const makers: ((factor: 'cpu' | 'gpu') => Promise<MultivariateNormal>)[] = [
      (factor) => MultivariateNormal.fromCovariance({ device, covariance, factor }),
      (factor) => MultivariateNormal.fromPrecision({ device, precision: covariance, factor }),
      (factor) => MultivariateNormal.fit({ device, rows, factor }),
      async (factor) => MultivariateNormal.fromCovarianceSync({ device, covariance, factor }),
      async (factor) => MultivariateNormal.fromPrecisionSync({ device, precision: covariance, factor }),
      async (factor) => MultivariateNormal.fitSync({ device, rows, factor }),
    ];
    for (const make of makers) {
      const before = device.memory().liveBytes;
      for (const factor of ['cpu', 'gpu'] as const) {
        if (factor === 'gpu' && device.kind !== 'metal' && device.kind !== 'cuda') {
          await throwsCode('ERR_UNSUPPORTED', "(factor: 'gpu')", () => make(factor));
          continue;
        }
        using normal = await make(factor);
        assert.is(normal.timings.factor, factor);
        assert.ok(normal.timings.wallMs >= 0);
      }
      await throwsCode('ERR_INVALID_ARGUMENT', "('best')", () => make('best' as 'cpu'));
      assert.is(device.memory().liveBytes, before);
    }
    using given = MultivariateNormal.fromCholeskySync({
      device,
      factor: [
        [2, 0],
        [1, 2],
      ],
    });
    assert.is(given.timings.factor, undefined, 'a factor that is given was not made');
    using byDefault = MultivariateNormal.fromCovarianceSync({ device, covariance });
    assert.ok(byDefault.timings.factor === 'cpu' || byDefault.timings.factor === 'gpu');
  },
);

onEveryDevice("quantiles are mean + L z, where z are the standard normal's.", async (device) => {
  // The standard normal's quantiles at 0.975 and 0.025, 0.5 and 0.84134474606854293 (1).
  using normal = MultivariateNormal.fromCholeskySync({
    device,
    mean: [1, -1],
    factor: [
      [2, 0],
      [1, 3],
    ],
  });
  const rows = [
    [0.5, 0.5],
    [0.975, 0.5],
    [0.84134474606854293, 0.02500000000000002],
  ];
  const z = 1.9599639845400545;
  near((await normal.quantile(rows)).data, [1, -1, 1 + 2 * z, -1 + z, 3, 0 - 3 * z], () => 2e-6, 'by hand');
  near(normal.quantileSync(rows[1]!).data, [1 + 2 * z, -1 + z], () => 2e-6, 'one row');
  // The quantiles of the probabilities of z equal transform(z).
  const standard = Array.from({ length: 20 }, (_, i) => [Math.sin(i) * 3, Math.cos(i * 7) * 2]);
  const made = normal.quantileSync(standard.map((row) => row.map(cdf)));
  near(made.data, normal.transformSync(standard).data, () => 1e-5, 'transform');
});

onEveryDevice(
  'Quantiles of numbers that are not between 0 and 1, or of a closed normal, are refused.',
  async (device) => {
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: identity(3) });
    for (const p of [0, 1, -1, 2, Number.NaN])
      await throwsCode('ERR_OUT_OF_RANGE', `${p}`, () => normal.quantile([[0.5, 0.5, p]]));
    for (const dtype of realDtypes(device)) {
      using one = MultivariateNormal.fromDiagonalSync({ device, dtype, variances: [1, 1] });
      // So many that the device looks for them.
      for (const [at, p] of [
        [0, 0],
        [5001, 1],
        [9999, Number.NaN],
      ] as const) {
        // biome-ignore format: a matrix
        const many = new Float64Array(10_000).fill(0.5);
        many[at] = p;
        const place = `\`probabilities\` entry (${Math.floor(at / 2)}, ${at % 2}) is (${p})`;
        await throwsCode('ERR_OUT_OF_RANGE', place, () => one.quantile(Matrix.from(many, { columns: 2 })));
        await throwsCode('ERR_OUT_OF_RANGE', place, () => one.quantileSync(Matrix.from(many, { columns: 2 })));
      }
    }
    normal.close();
    using line = MultivariateNormal.fromCovarianceSync({ device, covariance: [[1, 2], [2, 4]], singular: 'pivoted' }); // biome-ignore format: a matrix
    const root = 'the root of the singular distribution of dimension (2) has (1)';
    await throwsCode('ERR_SHAPE', root, () => line.quantile([[0.5, 0.5]]));
    await throwsCode('ERR_SHAPE', root, () => line.transform([[1, 2]]));
    await throwsCode('ERR_CLOSED', '3', () => normal.quantile([0.5, 0.5, 0.5]));
  },
);

// Other devices copy so many before they check them.
test('reference: Probabilities that are transferred while the host checks them are refused.', async () => {
  using device = openDevice('reference');
  using normal = MultivariateNormal.fromDiagonalSync({ device, variances: [1] });
  const probabilities = new Float32Array(4_000_000).fill(0.5);
  const pending = normal.quantile(Matrix.from(probabilities, { columns: 1 }));
  setImmediate(() => structuredClone(probabilities.buffer, { transfer: [probabilities.buffer] }));
  await throwsCode('ERR_CLOSED', '', () => pending);
});

test.run();
