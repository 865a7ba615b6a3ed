// Moments by our own products: the tiles of the covariance depend on the number of threads, its bits do not.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, MultivariateNormal, openDevice, Vector } from '../../lib/index.ts';
import { near } from '../harness/near.ts';
import { onNative } from '../harness/on-native.ts';

const env: NodeJS.ProcessEnv & { COVARIUM_BLAS?: string } = process.env;
env.COVARIUM_BLAS = 'none'; // read as a device is opened: on a Mac the products are Accelerate's otherwise

// One thread takes tile after tile; of several, each takes chunks of tiles.
for (const dtype of ['float32', 'float64'] as const)
  for (const [n, count] of [
    [3, 1000],
    [130, 1100],
    [530, 700],
  ] as const)
    onNative(`${dtype}, n = ${n}: mean, covariance and densities have the same bits with any threads.`, () => {
      const Values = dtype === 'float32' ? Float32Array : Float64Array;
      const place = Matrix.from(
        new Values(n * n).map((_, at) => (at % (n + 1) === 0 ? 2 : 0)),
        { columns: n },
      );
      const draw = new Values(count * n);
      using reference = openDevice('reference');
      using whole = openDevice('cpu', { threads: 1 });
      using normal = MultivariateNormal.fromCovarianceSync({ device: whole, dtype, covariance: place });
      normal.sampleSync(count, { seed: 3, out: draw as Float32Array });
      // Neighbours are correlated, and far from 0.
      const data = draw.map((value, at) => 10 + value + (draw[at + 1] ?? 0));
      const rows = Matrix.from(data, { columns: n });
      const momentsOn = (device: typeof whole) => {
        const [mean, covariance] = [new Values(n), new Values(n * n)] as [Float32Array, Float32Array];
        const commands = device.commandBuffer();
        commands.meanAndCovariance(rows, Vector.from(mean), Matrix.from(covariance, { columns: n })).commitSync();
        return { mean, covariance };
      };
      const [expected, exact] = [momentsOn(whole), momentsOn(reference)];
      const digits = dtype === 'float32' ? 1e-6 : 1e-13;
      near(expected.mean, exact.mean, digits);
      near(expected.covariance, exact.covariance, digits);
      const densities = normal.logPdfSync(rows);
      for (const threads of [2, 3, 16]) {
        using device = openDevice('cpu', { threads });
        const { mean, covariance } = momentsOn(device);
        assert.equal(mean, expected.mean, `${threads} threads`);
        assert.equal(covariance, expected.covariance, `${threads} threads`);
        using other = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: place });
        assert.equal(other.logPdfSync(rows), densities, `${threads} threads`);
      }
    });

onNative('Many columns: the sums of all chunks would take much memory, and tiles are smaller instead.', () => {
  const [n, count] = [1500, 300];
  const covarianceBy = (threads: number) => {
    using device = openDevice('cpu', { threads });
    const [rows, mean, covariance] = [device.matrix(count, n), device.vector(n), device.matrix(n, n)];
    const commands = device.commandBuffer().fillNormal(rows, { seed: 5 });
    commands.meanAndCovariance(rows, mean, covariance).commitSync();
    return covariance.data.slice();
  };
  assert.ok(Buffer.from(covarianceBy(1).buffer).equals(Buffer.from(covarianceBy(16).buffer)));
});

test.run();
