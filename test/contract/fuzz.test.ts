// Hostile calls, the same on cpu and reference: both give the same verdict, and where they compute, the same numbers. A
// call that fails is told with its family and number, and is the same in every run; COVARIUM_TEST_ROUNDS=100 makes a
// hundred times as many, and COVARIUM_PROPERTY_SEED others.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  CovariumError,
  type Device,
  Matrix,
  MultivariateNormal,
  MultivariateNormalBatch,
  MultivariateNormalMixture,
  MultivariateStudentT,
  openDevice,
  Vector,
} from '../../lib/index.ts';
import { kindsHere } from '../harness/every-device.ts';
import { propertySeed } from '../harness/properties.ts';

const { COVARIUM_TEST_ROUNDS: rounds = '1' } = process.env as NodeJS.ProcessEnv & { COVARIUM_TEST_ROUNDS?: string };
const calls = 200 * Number(rounds);
// The first number of a call: 0 for the seed of every test run.
const first = (propertySeed - 1) * 1_000_000;

/** Chooses, from a seed: the same choices for each device. */
class Choice {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 2654435761) >>> 0;
  }

  below(count: number): number {
    this.#state = (Math.imul(this.#state, 747796405) + 2891336453) >>> 0;
    return ((this.#state >>> 8) * count) >>> 24;
  }

  of<Value>(...values: readonly Value[]): Value {
    return values[this.below(values.length)]!;
  }

  number(): number {
    return this.of(0, 1, -1, 0.5, 2, 3, 1e-30, 1e30, 7.25, -2.5, 1e-320, 1e308, Number.NaN, Number.POSITIVE_INFINITY);
  }

  tame(): number {
    return (this.below(2001) - 1000) / 250;
  }

  odd(): unknown {
    const promise = Promise.resolve({});
    return this.of<unknown>(
      undefined,
      null,
      '',
      'x',
      {},
      [],
      [[]],
      new Map(),
      promise,
      3n,
      -1n,
      2n ** 64n,
      true,
      () => 0,
    );
  }

  /** Rows of n numbers, mostly sound. */
  rows(n: number, count = this.below(4)): unknown {
    if (this.below(12) === 0) return this.odd();
    const wild = this.below(6) === 0;
    const width = this.below(15) === 0 ? n + 1 : n;
    const row = () => Array.from({ length: width }, () => (wild ? this.number() : this.tame()));
    const rows = Array.from({ length: count }, row);
    const kind = this.below(4);
    if (kind === 0 && count > 0) return Matrix.from(rows, { dtype: this.of('float32', 'float64', 'int32') });
    if (kind === 1) return this.below(2) === 0 ? Float32Array.from(rows.flat()) : Float64Array.from(rows.flat());
    return rows;
  }

  covariance(n: number): unknown {
    if (this.below(4) === 0) return this.rows(n, n);
    const roots = Array.from({ length: n }, () => Array.from({ length: n }, () => this.tame()));
    const scale = this.of(1, 1, 1, 1e-10, 1e10, 1e-30, 1e30);
    return roots.map((a, i) =>
      roots.map((b, j) => scale * (a.reduce((sum, v, k) => sum + v * b[k]!, 0) + (i === j ? 1 : 0))),
    );
  }

  options(names: readonly string[]): object {
    if (this.below(20) === 0) return this.odd() as object;
    const chosen = names.filter(() => this.below(2) === 0);
    const value = () => this.of<unknown>(0, 1, 5, 2 ** 40, 2n ** 63n, this.odd(), this.number());
    return Object.fromEntries(chosen.map((name) => [name, value()]));
  }
}

type Call = (device: Device, choice: Choice) => Promise<unknown>;

const normalOf = (device: Device, choice: Choice) => {
  const n = 1 + choice.below(4);
  const dtype = choice.of('float32', 'float64');
  const identity = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 2 : 0.5)));
  return { n, normal: MultivariateNormal.fromCovarianceSync({ device, covariance: identity, dtype }) };
};

// Rounding, which differs between devices, decides whether such a covariance is positive definite.
function refuseNearlySingular(factor: Matrix, covariance: Matrix): void {
  for (let i = 0; i < factor.rows; i++)
    if (factor.at(i, i) ** 2 < 1e-12 * covariance.at(i, i))
      throw new CovariumError('ERR_NOT_POSITIVE_DEFINITE', `Pivot (${i}) is within rounding of 0.`);
}

const families: { readonly [family: string]: Call } = {
  'a normal of a covariance': async (device, choice) => {
    const n = 1 + choice.below(4);
    const covariance = choice.covariance(n) as number[][];
    const dtype = choice.of('float32', 'float64', 'float64', choice.odd()) as 'float32';
    const mean = choice.below(3) === 0 ? undefined : (choice.rows(n, 1) as number[]);
    using normal = await MultivariateNormal.fromCovariance({ device, covariance, dtype, mean });
    return normal.covarianceSync().data;
  },
  'a sample': async (device, choice) => {
    const { normal } = normalOf(device, choice);
    const count = choice.of<unknown>(0, 1, 2, 7, choice.odd(), choice.of(-1, 0.5, Number.NaN, 2 ** 60)) as number;
    const options = choice.options(['seed', 'stream', 'firstRow', 'empirical', 'means', 'out']) ?? {};
    // Without a seed draws are random.
    const isRandom =
      Object.getPrototypeOf(options) === Object.prototype && (options as { seed?: unknown }).seed === undefined;
    if (isRandom) Object.assign(options, { seed: 3 });
    return (await normal.sample(count, options)).data;
  },
  'a density, a distance or a score': async (device, choice) => {
    const { n, normal } = normalOf(device, choice);
    const rows = choice.rows(n) as number[][];
    const ask = choice.of('logPdf', 'mahalanobis', 'scoreInput', 'transform', 'pdf');
    return ((await normal[ask](rows)) as Matrix).data;
  },
  'a part of a normal': async (device, choice) => {
    const { n, normal } = normalOf(device, choice);
    const coordinates = choice.of<unknown>([0], [n - 1], [0, 0], [n], [], [-1], choice.odd()) as number[];
    using part = await normal.marginal(coordinates);
    return part.covarianceSync().data;
  },
  'a normal made another way': async (device, choice) => {
    const n = 1 + choice.below(3);
    const square = choice.covariance(n) as number[][];
    const positive = Array.from({ length: n }, () => choice.of(0.5, 1, 3, 1, 2, choice.number()));
    const common = { device, dtype: 'float64' } as const;
    const make = choice.of(
      () => MultivariateNormal.fromCholesky({ ...common, factor: square }),
      () => MultivariateNormal.fromPrecision({ ...common, precision: square }),
      () => MultivariateNormal.fromDiagonal({ ...common, variances: positive }),
      () => MultivariateNormal.fromCorrelation({ ...common, correlation: square, standardDeviations: positive }),
      () =>
        MultivariateNormal.fromLowRank({
          ...common,
          factor: choice.rows(1 + choice.below(2), n) as [],
          diagonal: positive,
        }),
      () =>
        MultivariateNormal.fromDiagonal({ ...common, ...(choice.options(['variances', 'mean']) as { variances: [] }) }),
    );
    using normal = await make();
    return (await normal.covariance()).data;
  },
  'a Student-t': async (device, choice) => {
    const n = 1 + choice.below(3);
    const scale = choice.covariance(n) as number[][];
    const degreesOfFreedom = choice.of(1, 3, 0.3, 30, choice.number());
    using student = await MultivariateStudentT.fromScale({ device, scale, degreesOfFreedom, dtype: 'float64' });
    const rows = choice.rows(n) as number[][];
    const ask = choice.of('logPdf', 'mahalanobis', 'scoreInput', 'sample');
    if (ask === 'sample') return (await student.sample(choice.of(3, 3, choice.number()), { seed: 4 })).data;
    return ((await student[ask](rows)) as Matrix).data;
  },
  'a part, an image or a quantile of a normal': async (device, choice) => {
    const { n, normal } = normalOf(device, choice);
    const rows = choice.rows(n) as number[][];
    const ask = choice.of<() => Promise<Matrix | Vector>>(
      async () =>
        (
          await normal.conditional({ given: choice.of([0], [n - 1], []), values: choice.rows(1, 1) as [] } as never)
        ).covariance(),
      async () => (await normal.affine({ matrix: rows, offset: choice.of(undefined, [1]) } as never)).covariance(),
      () => normal.quantile(choice.rows(1, 2) as number[][]),
      () => normal.cdf(rows, choice.options(['seed', 'absoluteError']) as object),
      () => normal.transform(rows),
    );
    return (await ask()).data;
  },
  'a fit': async (device, choice) => {
    const n = 1 + choice.below(3);
    const rows = choice.rows(n, n + 2 + choice.below(5)) as number[][];
    const options = choice.options(['ddof', 'mean', 'weights', 'frequencies', 'shrinkage', 'missing']) ?? {};
    using normal = await MultivariateNormal.fit({
      device,
      rows,
      dtype: 'float64',
      ...(choice.below(2) === 0 ? options : {}),
    });
    const covariance = await normal.covariance();
    refuseNearlySingular(await normal.factor(), covariance);
    return covariance.data;
  },
  'a batch or a mixture': async (device, choice) => {
    const n = 1 + choice.below(3);
    const covariances = [choice.covariance(n), choice.covariance(n)] as number[][][];
    const means = choice.of(undefined, choice.rows(n, 2)) as [];
    const weights = choice.of([1, 2], [0.5, 0.5], choice.odd(), [choice.number(), 1]) as number[];
    if (choice.below(2) === 0) {
      using batch = await MultivariateNormalBatch.fromCovariance({ device, covariances, means, dtype: 'float64' });
      return (await batch.sample(choice.of(2, choice.number()), { seed: 1 })).flatMap(({ data }) => [...data]);
    }
    const common = {
      device,
      covariances,
      means: means ?? [new Array(n).fill(0), new Array(n).fill(1)],
      dtype: 'float64',
    };
    using mixture = await MultivariateNormalMixture.fromCovariance({ ...common, weights } as never);
    const rows = choice.rows(n) as number[][];
    if (choice.below(2) === 0) return (await mixture.logPdf(rows)).data as Float64Array;
    return (await mixture.sample(choice.of(4, choice.number()), { seed: 1 })).data as Float64Array;
  },
  commands: async (device, choice) => {
    const memory = Float32Array.from({ length: 24 }, () => choice.tame());
    const operand = () => {
      const length = choice.below(7);
      const values = choice.below(2) === 0 ? memory.subarray(choice.below(12)) : Float32Array.from(memory);
      if (choice.below(2) === 0) return Vector.from(values.subarray(0, length));
      const columns = 1 + choice.below(3);
      return Matrix.from(values.subarray(0, columns * choice.below(4)), { columns });
    };
    const [a, b, c] = [operand() as Matrix, operand() as Matrix, operand() as Matrix];
    const commands = device.commandBuffer();
    const command = choice.of(
      () => commands.sum(a, b, c),
      () => commands.copy(a, b),
      () => commands.product(a, b, c, choice.options(['transposeA', 'alpha', 'beta'])),
      () => commands.addRow(a, b, choice.number()),
      () => commands.requireFinite(a),
      () => commands.squaredNorms(a, b as unknown as Vector),
      () => commands.cholesky(a),
      () => commands.fillNormal(a, choice.options(['seed', 'stream', 'first'])),
      () => commands.meanAndCovariance(a, b, c),
    );
    command();
    if (choice.below(8) === 0) structuredClone(null, { transfer: [memory.buffer] });
    if (choice.below(2) === 0) commands.commitSync();
    else await commands.commit();
    return memory.length === 0 ? [] : memory;
  },
};

async function verdict(
  call: Call,
  device: Device,
  seed: number,
): Promise<{ code: string; message?: string; values: number[] }> {
  try {
    const result = await call(device, new Choice(seed));
    return {
      code: 'computed',
      values: Array.from(result as ArrayLike<unknown>, (value) => (typeof value === 'number' ? value : 0)),
    };
  } catch (error) {
    if (error instanceof CovariumError) return { code: error.code, message: error.message, values: [] };
    throw new Error(`Call (${seed}) throws on ${device.kind} (${error instanceof Error ? error.stack : error})`, {
      cause: error,
    });
  }
}

function areNear(x: number, y: number): boolean {
  return Object.is(x, y) || x === y || Math.abs(x - y) <= 1e-3 * Math.max(1e-3, Math.abs(x), Math.abs(y));
}

if (!['cpu', 'reference'].every((kind) => kindsHere.includes(kind as 'cpu'))) {
  console.log('skipped  hostile calls: they compare cpu and reference, and one of them is not here');
  test.skip('Hostile calls end alike on cpu and reference.');
} else
  for (const [family, call] of Object.entries(families))
    test(`${calls} hostile calls of ${family} end alike on cpu and reference.`, async () => {
      using cpu = openDevice('cpu', { threads: 2 });
      using reference = openDevice('reference');
      const codes = new Set<string>();
      for (let seed = first; seed < first + calls; seed++) {
        const ours = await verdict(call, cpu, seed);
        const theirs = await verdict(call, reference, seed);
        assert.is(
          ours.code,
          theirs.code,
          `call (${seed}): ${ours.message ?? ours.code} on cpu, ${theirs.message ?? theirs.code} on reference`,
        );
        const other = ours.values.findIndex((value, i) => !areNear(value, theirs.values[i]!));
        assert.is(other, -1, `call (${seed}), number (${other}): ${ours.values[other]} and ${theirs.values[other]}`);
        codes.add(ours.code);
      }
      assert.ok(codes.has('computed') && codes.size > 1, `(${[...codes].join(', ')})`);
    });

test.run();
