// Weights, frequencies and a known mean, in every form of a vector.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Moments, MultivariateNormal, openDevice, Vector, type VectorInput } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';

const rows = [[1, 2], [3, 5], [4, 4], [7, 1]]; // biome-ignore format: a matrix

/** The numbers as a strided array, as JSON of a vector, and by other ways. */
const formsOf = (numbers: number[]): VectorInput[] => [
  Float32Array.from(numbers),
  Vector.from(numbers),
  JSON.parse(JSON.stringify(Vector.from(numbers))),
  { data: numbers.flatMap((number) => [Number.NaN, number]), shape: [numbers.length], strides: [2], offset: 1 },
  { data: [...numbers].reverse(), shape: [numbers.length], stride: [-1], offset: numbers.length - 1 },
];

test('Weights, frequencies and a mean are any vector: strided arrays and JSON too.', () => {
  using device = openDevice('reference');
  const [weights, frequencies, mean] = [[1, 2, 3, 1], [2, 1, 0, 5], [1, 2]]; // biome-ignore format: three vectors
  const covarianceOf = (given: { weights: VectorInput; frequencies: VectorInput; mean: VectorInput }) => {
    const moments = new Moments(2);
    moments.addSync(rows, { weights: given.weights, frequencies: given.frequencies });
    using normal = MultivariateNormal.fitSync({ device, rows, dtype: 'float64', ...given });
    const about = { mean: given.mean };
    return [moments.covariance(about).toArray(), moments.ledoitWolf(about), normal.covarianceSync().toArray()];
  };
  const expected = covarianceOf({ weights, frequencies, mean });
  const [asWeights, asFrequencies, asMeans] = [weights, frequencies, mean].map(formsOf) as VectorInput[][];
  asWeights!.forEach((form, i) => {
    assert.equal(covarianceOf({ weights: form, frequencies: asFrequencies![i]!, mean: asMeans![i]! }), expected);
  });
});

test('What is not a vector is refused by name.', async () => {
  const add = (weights: unknown) => () => new Moments(2).addSync(rows, { weights: weights as number[] });
  await throwsCode('ERR_SHAPE', '`weights` of shape (4, 1)', add({ data: [1, 2, 3, 1], shape: [4, 1] }));
  await throwsCode('ERR_INVALID_ARGUMENT', '`weights` is (Object)', add({ a: [1, 2, 3, 1] }));
  await throwsCode('ERR_SHAPE', '`weights` has (3) entries', add({ data: [1, 2, 3], shape: [3] }));
});

test.run();
