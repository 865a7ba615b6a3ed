// Times of the cpu device with each number of threads, in ms, the best of several rounds: draws into reused memory,
// densities, a fit and a factor. After `npm run build`: node test/harness/threads.mjs 1 2 4 8 16
//
// What the machine itself gives to many threads: with node test/harness/threads.mjs --processes 16, that many
// processes each compute a share of the rows with one thread, first one of them alone, then all at once.
import { fork } from 'node:child_process';
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

/** In one of many processes: waits until all of them have started. */
const together = () =>
  process.send === undefined
    ? undefined
    : new Promise((resolve) => {
        process.once('message', resolve);
        process.send('ready');
      });

/** Times by name; `share` of the rows. */
async function timesOf(threads, dtype, share) {
  const device = openDevice('cpu', { threads });
  const times = {};
  const time = async (what, work) => {
    await together();
    times[what] = await work();
  };
  for (const [n, rows] of [
    [2, 1e6],
    [16, 1e6],
    [100, 1e5],
    [1000, 1e4],
  ]) {
    const count = Math.ceil(rows * share);
    const entries = Array.from({ length: n * n }, (_, at) => 1 / (1 + Math.abs(Math.floor(at / n) - (at % n))));
    for (let i = 0; i < n; i++) entries[i * (n + 1)] += 1;
    const Values = dtype === 'float32' ? Float32Array : Float64Array;
    const covariance = Matrix.from(Values.from(entries), { columns: n });
    const normal = await MultivariateNormal.fromCovariance({ device, covariance, dtype });
    const out = device.matrix(count, n, { dtype });
    await time(`draws of ${n}`, () => best(() => normal.sample(count, { seed: 1, out })));
    if (n === 2) await time('of 2, synchronously', () => best(() => normal.sampleSync(count, { seed: 1, out })));
    if (n === 1000) {
      await time('logPdf', () => best(() => normal.logPdf(out)));
      // The covariance of few rows is singular.
      const fit = { device, rows: out, dtype, ...(share < 1 && { shrinkage: 0.5 }) };
      await time(share < 1 ? 'fit with shrinkage' : 'fit', () =>
        best(async () => (await MultivariateNormal.fit(fit)).close()),
      );
      await time('factor', () => factorOf(device, covariance, dtype));
    }
    normal.close();
    out.close();
  }
  device.close();
  return times;
}

const show = (title, times) =>
  console.log(
    `${title}: ${Object.entries(times)
      .map(([what, ms]) => `${what} ${ms.toFixed(3)}`)
      .join(', ')}`,
  );

/** The mean of each time over `processes` processes at once. */
async function apart(processes, dtype, share) {
  const children = Array.from({ length: processes }, () => fork(process.argv[1], ['--share', dtype, String(share)]));
  let ready = 0;
  const all = await Promise.all(
    children.map(
      (child) =>
        new Promise((resolve, reject) => {
          child.on('exit', (code, signal) => reject(new Error(`A process ended with (${signal ?? code}).`)));
          child.on('message', (message) => {
            if (message !== 'ready') return void resolve(message);
            ready += 1;
            if (ready % processes === 0) for (const each of children) each.send('go');
          });
        }),
    ),
  );
  const mean = (what) => all.reduce((sum, times) => sum + times[what], 0) / processes;
  return Object.fromEntries(Object.keys(all[0]).map((what) => [what, mean(what)]));
}

const [mode, ...rest] = process.argv.slice(2);
if (mode === '--share') {
  process.send(await timesOf(1, rest[0], Number(rest[1])));
  process.disconnect();
} else if (mode === '--processes') {
  const processes = Number(rest[0]);
  for (const dtype of ['float32', 'float64'])
    for (const each of [1, processes])
      show(`${each} processes, ${dtype}, 1 / ${processes} of the rows each`, await apart(each, dtype, 1 / processes));
} else
  for (const threads of [mode, ...rest].map(Number))
    for (const dtype of ['float32', 'float64']) show(`${threads} threads, ${dtype}`, await timesOf(threads, dtype, 1));
