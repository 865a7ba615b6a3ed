// Element types, both as TypeScript infers them and at run time: each line with a `Type` fails `npm run lint` if it
// is wrong.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type CovarianceOptions,
  Matrix,
  type MatrixInput,
  Moments,
  MultivariateNormal,
  MultivariateNormalBatch,
  MultivariateStudentT,
  nearestPositiveDefiniteSync,
  openDevice,
  type RealDtype,
  Vector,
  Volume,
} from '../../lib/index.ts';
import { is } from '../harness/of-type.ts';

const device = openDevice('reference');
const covariance = [
  [2, 0.5],
  [0.5, 1],
];

test('Draws have the requested type, without a cast.', () => {
  const normal = MultivariateNormal.fromCovarianceSync({ device, covariance, dtype: 'float64' });
  is<MultivariateNormal<'float64'>>()(normal);
  const draws = normal.sampleSync(3, { seed: 1 });
  const numbers: Float64Array = draws.data;
  const sum: number = draws.data.reduce((total, value) => total + value, 0);
  assert.instance(numbers, Float64Array);
  assert.type(sum, 'number');
  is<Vector<'float64'>>()(normal.logPdfSync(draws));
  is<Matrix<'float64'>>()(normal.covarianceSync());
  is<MultivariateNormal<'float64'>>()(normal.marginalSync([0]));
  is<Float64Array>()(normal.mean.data);
});

test('Without a dtype, draws are float64 if an input is, otherwise float32.', () => {
  const plain = is<MultivariateNormal<'float32'>>()(MultivariateNormal.fromCovarianceSync({ device, covariance }));
  assert.is(plain.dtype, 'float32');
  assert.instance(is<Float32Array>()(plain.sampleSync(1).data), Float32Array);
  const square = Float64Array.of(2, 0.5, 0.5, 1);
  const followed = [
    is<MultivariateNormal<'float64'>>()(MultivariateNormal.fromCovarianceSync({ device, covariance: square })),
    is<MultivariateNormal<'float64'>>()(
      MultivariateNormal.fromCovarianceSync({ device, mean: Float64Array.of(1, 2), covariance }),
    ),
    is<MultivariateNormal<'float64'>>()(
      MultivariateNormal.fromCovarianceSync({ device, mean: [1, 2], covariance: Matrix.from(square, { columns: 2 }) }),
    ),
    is<MultivariateNormal<'float64'>>()(
      MultivariateNormal.fromCovarianceSync({
        device,
        covariance: [Float64Array.of(2, 0.5), Float64Array.of(0.5, 1)],
      }),
    ),
    is<MultivariateNormal<'float64'>>()(
      MultivariateNormal.fromDiagonalSync({ device, variances: Float64Array.of(1, 2) }),
    ),
    is<MultivariateNormal<'float64'>>()(
      MultivariateNormal.fromCorrelationSync({
        device,
        correlation: Float64Array.of(1, 0, 0, 1),
        standardDeviations: [1, 2],
      }),
    ),
    is<MultivariateNormal<'float64'>>()(
      MultivariateNormal.fromLowRankSync({ device, factor: [[1], [2]], diagonal: Float64Array.of(1, 1) }),
    ),
    is<MultivariateNormal<'float64'>>()(
      MultivariateNormal.fromEigenSync({
        device,
        values: Vector.from(Float64Array.of(1, 2)),
        vectors: covariance.map((_, i) => (i === 0 ? [1, 0] : [0, 1])),
      }),
    ),
    is<MultivariateNormal<'float64'>>()(
      MultivariateNormal.fromCholeskySync({ device, factor: Float64Array.of(1, 0, 0, 1) }),
    ),
    is<MultivariateNormal<'float64'>>()(
      MultivariateNormal.fromPrecisionSync({ device, precision: Float64Array.of(1, 0, 0, 1) }),
    ),
    is<MultivariateNormal<'float64'>>()(
      MultivariateNormal.fitSync({ device, rows: Matrix.from(Float64Array.of(1, 2, 3, 5, 8, 1), { columns: 2 }) }),
    ),
    is<MultivariateStudentT<'float64'>>()(
      MultivariateStudentT.fromScaleSync({ device, scale: square, degreesOfFreedom: 5 }),
    ),
    is<MultivariateStudentT<'float64'>>()(
      MultivariateStudentT.fromDiagonalSync({
        device,
        location: Float64Array.of(1, 2),
        diagonal: 1,
        degreesOfFreedom: 5,
      }),
    ),
  ];
  for (const [at, normal] of followed.entries()) {
    assert.is(normal.dtype, 'float64', `${at}`);
    assert.instance(normal.sampleSync(1).data, Float64Array, `${at}`);
  }
  const float32 = is<MultivariateNormal<'float32'>>()(
    MultivariateNormal.fromCovarianceSync({ device, covariance: square, dtype: 'float32' }),
  );
  assert.is(float32.dtype, 'float32');
  const small = is<MultivariateNormal<'float32'>>()(
    MultivariateNormal.fromCovarianceSync({ device, covariance: Float32Array.from(square) }),
  );
  assert.is(small.dtype, 'float32');
});

test('A type that is known only at run time is one of the two.', () => {
  const options: CovarianceOptions = { device, covariance, dtype: 'float64' };
  is<MultivariateNormal<RealDtype>>()(MultivariateNormal.fromCovarianceSync(options));
  const input = covariance as MatrixInput;
  is<MultivariateNormal<RealDtype>>()(MultivariateNormal.fromCovarianceSync({ device, covariance: input }));
  const any: MultivariateNormal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  assert.is(any.dtype, 'float32');
});

test('Matrices, vectors and volumes have the type of their numbers, or the requested one.', () => {
  assert.instance(is<Float32Array>()(Matrix.from(covariance).data), Float32Array);
  assert.instance(is<Float64Array>()(Matrix.from(covariance, { dtype: 'float64' }).data), Float64Array);
  assert.instance(is<Int32Array>()(Matrix.from(Int32Array.of(1, 2), { columns: 1 }).data), Int32Array);
  assert.instance(is<Float64Array>()(Matrix.from([Float64Array.of(0.1)]).data), Float64Array);
  assert.instance(is<Float64Array>()(Matrix.from(Matrix.from([Float64Array.of(0.1)])).row(0)), Float64Array);
  assert.instance(is<Float32Array>()(Vector.from([1, 2]).data), Float32Array);
  assert.instance(is<Float32Array>()(Matrix.from({ a: Int32Array.of(1) }).data), Float32Array);
  assert.instance(is<Float32Array>()(Matrix.from({ a: Int32Array.of(1), b: [1] }).data), Float32Array);
  assert.instance(is<Int32Array>()(Matrix.from([Int32Array.of(1)]).data), Int32Array);
  assert.instance(is<Uint8Array>()(Vector.from(Vector.from(Uint8Array.of(1))).data), Uint8Array);
  assert.instance(is<Uint32Array>()(Volume.from([1], { width: 1, dtype: 'uint32' }).data), Uint32Array);
  assert.instance(is<Float32Array>()(device.matrix(1, 1).data), Float32Array);
  assert.instance(is<Float64Array>()(device.vector(1, { dtype: 'float64' }).data), Float64Array);
  assert.instance(is<Int32Array>()(device.volume({ width: 1 }, { dtype: 'int32' }).data), Int32Array);
});

test('A result has the type of its inputs.', () => {
  const matrix = Matrix.from(covariance, { dtype: 'float64' });
  is<Matrix<'float64'>>()(matrix.multiplySync(matrix, { device }));
  is<Vector<'float64'>>()(matrix.eighSync({ device }).values);
  is<Matrix<'float64'>>()(nearestPositiveDefiniteSync(covariance));
  is<Matrix<'float32'>>()(nearestPositiveDefiniteSync(covariance, { dtype: 'float32' }));
  const moments = new Moments(2);
  moments.addSync(covariance);
  is<Matrix<'float64'>>()(moments.covariance());
  const batch = MultivariateNormalBatch.fromCovarianceSync({ device, covariances: [Float64Array.of(1, 0, 0, 1)] });
  is<Matrix<'float64'>[]>()(batch.sampleSync(1));
  assert.is(batch.dtype, 'float64');
});

test('A vector is transformed to a Vector, rows to a Matrix; if only the shape decides, the type is either.', () => {
  const normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  const rows = Matrix.from(covariance);
  is<Vector<'float32'>>()(normal.transformSync([1, 2]));
  is<Vector<'float32'>>()(normal.transformSync(Vector.from([1, 2])));
  is<Matrix<'float32'>>()(normal.transformSync(covariance));
  is<Matrix<'float32'>>()(normal.transformSync(rows));
  is<Matrix<'float32'>>()(normal.transformSync({ a: [1], b: [2] }));
  const strided = { data: [1, 2, 3, 4], shape: [2, 2] };
  type Either = Matrix<'float32'> | Vector<'float32'>;
  for (const z of [rows.toJSON(), strided]) assert.instance(is<Either>()(normal.transformSync(z)), Matrix);
  const either = rows as Matrix | Vector;
  assert.instance(is<Either>()(normal.transformSync(either)), Matrix);
  assert.instance(is<Matrix | Vector>()(MultivariateNormal.transformSync({ device, covariance, z: either })), Matrix);
  is<Matrix>()(MultivariateNormal.transformSync({ device, covariance, z: covariance }));
});

test('A variable of another type does not change the type of what is made for it.', () => {
  // @ts-expect-error: float32 is the default.
  const matrix: Matrix<'float64'> = device.matrix(1, 1);
  // @ts-expect-error: float32 is the default.
  const vector: Vector<'int32'> = device.vector(1, {});
  // @ts-expect-error: float32 is the default.
  const volume: Volume<'uint8'> = device.volume({ width: 1 });
  for (const made of [matrix, vector, volume]) assert.is(made.dtype as string, 'float32');
  // @ts-expect-error: float64 is the default.
  const nearest: Matrix<'float32'> = nearestPositiveDefiniteSync(covariance);
  assert.is(nearest.dtype as string, 'float64');
  is<Vector<'int32'>>()(device.vector(1, { dtype: 'int32' }));
  is<Matrix<'float32'>>()(nearestPositiveDefiniteSync(covariance, { dtype: 'float32' }));
  const of = (given: Matrix<'float64'>) =>
    is<MultivariateNormal<'float64'>>()(MultivariateNormal.fromCovarianceSync({ device, covariance: given }));
  assert.is(of(nearestPositiveDefiniteSync(covariance)).dtype, 'float64');
  const zeros = { device, covariance, mean: device.vector(2) };
  is<MultivariateNormal<'float32'>>()(MultivariateNormal.fromCovarianceSync(zeros));
  const exact = MultivariateNormal.fromCovarianceSync({ device, covariance: nearestPositiveDefiniteSync(covariance) });
  is<MultivariateNormal<'float64'>>()(exact);
});

test('An unknown option is refused by the compiler, and at run time.', () => {
  assert.throws(
    // @ts-expect-error: there is no option of this name.
    () => MultivariateNormal.fromCovarianceSync({ device, covariance, sigular: 'eigen' }),
    /sigular/,
  );
  // @ts-expect-error: no distribution is of whole numbers.
  assert.throws(() => MultivariateNormal.fromCovarianceSync({ device, covariance, dtype: 'int32' }), /int32/);
  const normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
  // @ts-expect-error: float32 is not float64.
  const numbers: Float64Array = normal.sampleSync(1).data;
  assert.instance(numbers, Float32Array);
});

test('An editor lists the options of a call whose types follow from its options, before one is written.', () => {
  const file = fileURLToPath(new URL('asked.ts', import.meta.url));
  const text = `import type { Only } from '../../lib/array/element-type.ts';
    interface Known { readonly seed?: number; readonly stream?: number }
    declare function call<const O extends Known = object>(options?: Only<O, Known>): void;
    call({ /* here */ });`;
  const { fileExists, readFile } = ts.sys;
  const service = ts.createLanguageService({
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => ts.ScriptSnapshot.fromString(path === file ? text : (readFile(path) ?? '')),
    getCurrentDirectory: () => fileURLToPath(new URL('.', import.meta.url)),
    getCompilationSettings: () => ({
      strict: true,
      lib: ['lib.es5.d.ts'],
      types: [],
      allowImportingTsExtensions: true,
    }),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists,
    readFile,
  });
  const listed = service.getCompletionsAtPosition(file, text.indexOf('/* here'), {})?.entries ?? [];
  assert.equal(
    listed.map(({ name }) => name),
    ['seed', 'stream'],
  );
});

test('Rows may have an interface type, which has no index signature; strings are not rows.', () => {
  interface Measured {
    readonly length: number;
    readonly weight: number;
  }
  const rows: readonly Measured[] = [1, 2, 4].map((length) => ({ length, weight: length * length }));
  is<Matrix<'float32'>>()(Matrix.from(rows));
  const normal = is<MultivariateNormal<'float32'>>()(MultivariateNormal.fitSync({ device, rows }));
  assert.equal(normal.dimension, 2);
  // @ts-expect-error
  assert.throws(() => Matrix.from([['a', 'b']]), "('a')");
});

test.run();
