// What the cpu device does with so many threads, in ms, best of some rounds: draws into memory that serves again,
// densities, a fit and a factor. After `npm run build`: node test/harness/threads.mjs 1 2 4 8 16
import { Matrix, MultivariateNormal, openDevice } from '../../dist/lib/index.js';

async function best(work) {
  let least = Number.POSITIVE_INFINITY;
  const end = performance.now() + 700;
  for (let round = 0; round < 4 || performance.now() < end; round++) {
    const start = performance.now();
    await work();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

async function factorOf(device, covariance, dtype) {
  const a = device.matrix(covariance.rows, covariance.columns, { dtype });
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 30; round++) {
    a.data.set(covariance.data);
    const commands = device.commandBuffer();
    commands.cholesky(a);
    least = Math.min(least, (await commands.commit()).deviceMs);
  }
  return least;
}

for (const threads of process.argv.slice(2).map(Number))
  for (const dtype of ['float32', 'float64']) {
    const device = openDevice('cpu', { threads });
    const times = [];
    const time = (what, ms) => times.push(`${what} ${ms.toFixed(3)}`);
    for (const [n, count] of [
      [2, 1e6],
      [16, 1e6],
      [100, 1e5],
      [1000, 1e4],
    ]) {
      const entries = Array.from({ length: n * n }, (_, at) => 1 / (1 + Math.abs(Math.floor(at / n) - (at % n))));
      for (let i = 0; i < n; i++) entries[i * (n + 1)] += 1;
      const Values = dtype === 'float32' ? Float32Array : Float64Array;
      const covariance = Matrix.from(Values.from(entries), { columns: n });
      const normal = await MultivariateNormal.fromCovariance({ device, covariance, dtype });
      const out = device.matrix(count, n, { dtype });
      time(`draws of ${n}`, await best(() => normal.sample(count, { seed: 1, out })));
      if (n === 2) time('of 2, synchronously', await best(() => normal.sampleSync(count, { seed: 1, out })));
      if (n === 1000) {
        time('logPdf', await best(() => normal.logPdf(out)));
        time('fit', await best(async () => (await MultivariateNormal.fit({ device, rows: out, dtype })).close()));
        time('factor', await factorOf(device, covariance, dtype));
      }
      normal.close();
      out.close();
    }
    console.log(`${threads} threads, ${dtype}: ${times.join(', ')}`);
    device.close();
  }
