// How long calls hold the JavaScript thread if they copy or add more numbers than is possible in 20 ms.
import { test } from 'uvu';
import { Matrix, Moments, MultivariateNormal, MultivariateNormalBatch, openDevice } from '../../lib/index.ts';
import { noCpu, openCpuBackend } from '../harness/cpu-backend.ts';
import { allowedMs, holdsShortly } from '../harness/holds.ts';
import { scattered } from '../harness/naive.ts';

const allowed = noCpu === '' ? await allowedMs() : undefined;
if (noCpu !== '') console.log(`skipped  holds of calls: ${noCpu}`);
const noLapack = noCpu === '' ? openCpuBackend(1).lacksDecompositions : noCpu;
if (noLapack !== '') console.log(`skipped  holds of decompositions, which take TypeScript minutes: ${noLapack}`);

if (allowed !== undefined) {
  const matrix = (rows: number, columns: number) => Matrix.from(scattered(rows * columns, 1), { columns });

  test('Moments of thousands of columns are joined in slices.', async () => {
    using device = openDevice('cpu', { threads: 2 });
    const rows = matrix(300, 2500);
    const moments = new Moments(2500, { device });
    await moments.add(rows);
    await holdsShortly('Adding rows', allowed, () => moments.add(rows));
  });

  if (noLapack === '')
    test('Operations of matrices copy their operands on the threads of the device.', async () => {
      // Copying into memory that is fresh from the system takes longest, so each round opens a device.
      const [a, b] = [matrix(2400, 1200), matrix(2400, 1200)];
      await holdsShortly('lstsq', allowed, async () => {
        using device = openDevice('cpu', { threads: 2 });
        await a.lstsq(b, { device });
      });
      await holdsShortly('qr', allowed, async () => {
        using device = openDevice('cpu', { threads: 2 });
        await a.qr({ device });
      });
    });

  test('Plain matrices of a batch are read together.', async () => {
    using device = openDevice('cpu', { threads: 2 });
    const covariances = Array.from({ length: 25_000 }, (_, i) => [
      [2, 0.5],
      [0.5, 1 + (i % 7)],
    ]);
    await holdsShortly('A batch', allowed, async () =>
      (await MultivariateNormalBatch.fromCovariance({ device, covariances })).close(),
    );
  });

  test('A marginal copies its rows in slices.', async () => {
    using device = openDevice('cpu', { threads: 2 });
    const n = 2500;
    const factor = new Float64Array(n * n);
    for (let i = 0; i < n; i++) factor.fill(1, i * n, i * n + i + 1);
    using normal = await MultivariateNormal.fromCholesky({ device, dtype: 'float64', factor });
    const coordinates = Array.from({ length: n - 1 }, (_, i) => i);
    await holdsShortly('marginal', allowed, async () => (await normal.marginal(coordinates)).close());
  });

  if (noLapack === '')
    test('An ellipsoid of thousands of dimensions is made in slices.', async () => {
      using device = openDevice('cpu', { threads: 2 });
      const n = 2500;
      const covariance = new Float64Array(n * n);
      for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) covariance[i * n + j] = Math.exp(-Math.abs(i - j) / 5);
      for (let i = 0; i < n; i++) covariance[i * (n + 1)] = 2;
      using normal = await MultivariateNormal.fromCovariance({ device, dtype: 'float64', covariance });
      await holdsShortly('ellipsoid', allowed, () => normal.ellipsoid({ probability: 0.9 }));
    });
}

test.run();
