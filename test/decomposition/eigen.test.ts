import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runAllSync } from '../../lib/command/task.ts';
import { type EigenDecomposition, eigenDecomposition } from '../../lib/decomposition/eigen.ts';
import type { Device } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { scattered } from '../harness/naive.ts';
import fc from '../harness/properties.ts';

const { spectra } = JSON.parse(readFileSync(new URL('../answers/ways-in.json', import.meta.url), 'utf8'));

const eps = Number.EPSILON;

const eigen = (device: Device, matrix: Float64Array, n: number): EigenDecomposition =>
  runAllSync(eigenDecomposition(device, matrix, n));

/** a (m x k) times b' (b is n x k). */
function timesTransposed(a: ArrayLike<number>, b: ArrayLike<number>, m: number, n: number, k: number): Float64Array {
  return new Float64Array(m * n).map((_, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    let sum = 0;
    for (let p = 0; p < k; p++) sum += a[i * k + p]! * b[j * k + p]!;
    return sum;
  });
}

function square(n: number, entry: (i: number, j: number) => number): Float64Array<ArrayBuffer> {
  return new Float64Array(n * n).map((_, at) => entry(Math.floor(at / n), at % n));
}

function isIdentity(product: Float64Array, n: number, tolerance: number, what: string): void {
  product.forEach((value, at) => {
    const wanted = at % (n + 1) === 0 ? 1 : 0;
    if (!(Math.abs(value - wanted) <= tolerance)) assert.unreachable(`${what}: entry (${at}) is (${value})`);
  });
}

/** Asserts that V diag(values) V' is the matrix, to rounding of its largest eigenvalue, and that V is orthogonal. */
function isSpectrumOf(device: Device, matrix: Float64Array, n: number, what: string): Float64Array {
  const { values, vectors } = eigen(device, matrix, n);
  isIdentity(timesTransposed(vectors, vectors, n, n, n), n, 30 * n * eps, what);
  const largest = Math.max(...values.map(Math.abs));
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += vectors[k * n + i]! * values[k]! * vectors[k * n + j]!;
      if (!(Math.abs(sum - matrix[i * n + j]!) <= 30 * n * eps * largest))
        assert.unreachable(`${what}: entry (${i}, ${j}) is (${sum}), not (${matrix[i * n + j]})`);
    }
  for (let i = 1; i < n; i++) assert.ok(values[i - 1]! <= values[i]!, `${what} is sorted`);
  return values;
}

for (const name of ['hilbert8', 'kahan12'])
  onEveryDevice(`eigenvalues of ${name} agree with 60-digit answers.`, (device) => {
    const { matrix, values } = spectra[name] as { matrix: number[][]; values: number[] };
    const n = matrix.length;
    const found = isSpectrumOf(device, Float64Array.from(matrix.flat()), n, name).reverse();
    found.forEach((value, i) => {
      if (!(Math.abs(value - values[i]!) <= 4 * n * eps * values[0]!))
        assert.unreachable(`(${i}) is (${value}), not (${values[i]})`);
    });
  });

onEveryDevice(
  'eigenvalues that repeat, vanish, or span 10^12 are found, also those of a matrix of ones, on which others fail.',
  (device) => {
    const twos = square(8, (i, j) => (i === j ? 2 : 1));
    isSpectrumOf(device, twos, 8, 'repeated');
    const ones = isSpectrumOf(device, new Float64Array(100 * 100).fill(1), 100, 'ones');
    assert.ok(Math.abs(ones[99]! - 100) < 1e-11 && Math.abs(ones[98]!) < 1e-12);
    assert.equal([...eigen(device, new Float64Array(9), 3).values], [0, 0, 0]);
    assert.equal([...eigen(device, Float64Array.of(-3), 1).values], [-3]);
    const wide = Array.from({ length: 13 }, (_, i) => 10 ** (i - 6));
    const diagonal = square(13, (i, j) => (i === j ? wide[i]! : 0));
    eigen(device, diagonal, 13).values.forEach((value, i) => {
      if (!(Math.abs(value - wide[i]!) <= 2 * eps * wide[i]!)) assert.unreachable(`(${i}) is (${value})`);
    });
    for (const scale of [1e-290, 1e290]) {
      const scaled = square(4, (i, j) => scale * (i === j ? 2 : 1));
      const { values } = eigen(device, scaled, 4);
      assert.ok(Math.abs(values[3]! / scale - 5) < 1e-14 && Math.abs(values[0]! / scale - 1) < 1e-14, `${scale}`);
    }
  },
);

onEveryDevice('a matrix at the end of the number range has the eigenvectors of one in the middle.', (device) => {
  const entries = [2, 1, 0.5, 1, 3, 0.25, 0.5, 0.25, 1];
  const middle = eigen(device, Float64Array.from(entries), 3);
  // The commands of a CPU treat subnormal numbers as 0.
  for (const unit of device.kind === 'reference' ? [2 ** -1015, 2 ** -1070] : [2 ** -1015]) {
    const end = eigen(
      device,
      Float64Array.from(entries, (entry) => entry * 4 * unit),
      3,
    );
    const near = (found: Float64Array, wanted: Float64Array, size: number, allowed: number) =>
      found.forEach((value, i) => {
        if (!(Math.abs(value / size - wanted[i]!) <= allowed)) assert.unreachable(`${unit}: (${i}) is (${value})`);
      });
    near(end.vectors, middle.vectors, 1, 1e-14);
    // An eigenvalue is rounded to a subnormal number.
    near(end.values, middle.values, 4 * unit, Math.max(1e-14, 2 ** -1074 / unit / 8));
  }
});

onEveryDevice('a random symmetric matrix is recomposed from its spectrum.', (device) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.nat(1000), fc.integer({ min: -8, max: 8 }), (n, seed, power) => {
      const a = scattered(n * n, seed);
      isSpectrumOf(
        device,
        square(n, (i, j) => (a[i * n + j]! + a[j * n + i]!) * 10 ** power),
        n,
        `${n}, ${seed}`,
      );
    }),
  );
});

test.run();
