// How long an asynchronous call holds the event loop while it copies input that is not a typed array, per million of
// numbers: docs/performance.md has its output. Times are processor time of the thread, on Linux.
import { register } from 'tsx/esm/api';

register();
const { holdsOf } = await import('../../bench/longest-hold.ts');
const { MultivariateNormal, MultivariateNormalBatch, openDevice } = await import('../../dist/lib/index.js');

const device = openDevice('cpu');
const numbers = Float64Array.from({ length: 1 << 20 }, (_, i) => Math.sin(i * i));
const rowsOf = (n, row) =>
  Array.from({ length: numbers.length / n }, (_, r) => row(numbers.subarray(r * n, (r + 1) * n)));
const plain = (row) => Array.from(row);
const column = (index, n) => Array.from({ length: numbers.length / n }, (_, r) => numbers[r * n + index]);
const inputs = {
  'typed array, `Matrix`': () => numbers,
  'rows of 2 numbers': () => rowsOf(2, plain),
  'rows of 16 numbers': () => rowsOf(16, plain),
  'typed arrays of 2 numbers': () => rowsOf(2, (row) => row.slice()),
  'objects of 2 numbers': () => rowsOf(2, ([a, b]) => ({ a, b })),
  'columns by name, 2': () => ({ a: column(0, 2), b: column(1, 2) }),
  'strided array, columns first': () => ({ data: numbers, shape: [1 << 19, 2], strides: [1, 1 << 19] }),
};

async function print(name, work) {
  const all = [];
  for (let round = 0; round < 15; round++) all.push((await holdsOf(work)).longestMs);
  all.sort((a, b) => a - b);
  console.log(`| ${name} | ${((all[7] * 1e6) / numbers.length).toFixed(0)} |`);
}

for (const [name, make] of Object.entries(inputs)) {
  const input = make();
  const n = name.includes('16') ? 16 : 2;
  const normal = MultivariateNormal.fromDiagonalSync({ device, variances: new Float64Array(n).fill(1) });
  await print(name, async () => (await normal.logPdf(input)).close());
}
const covariances = Array.from({ length: numbers.length / 4 }, (_, i) => [
  [2, 0.5],
  [0.5, 1 + (i % 7)],
]);
await print('a batch: plain matrices of 2 x 2', async () =>
  (await MultivariateNormalBatch.fromCovariance({ device, covariances })).close(),
);
device.close();
