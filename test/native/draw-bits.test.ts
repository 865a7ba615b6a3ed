// Draws by our own products: an entry is one sum in one order, so its bits depend neither on threads, nor on cuts,
// nor on the processor. test/native/baseline.test.ts compares arm64, in an emulator, with the same known answers.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, Matrix, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { isAsked } from '../harness/asked-device.ts';
import { type LesserSet, noCpu, noLesser, withLesser } from '../harness/cpu-backend.ts';
import { onNative } from '../harness/on-native.ts';
import { sanitized } from '../harness/sanitized.ts';

const env: NodeJS.ProcessEnv & { COVARIUM_BLAS?: string } = process.env;
env.COVARIUM_BLAS = 'none'; // read when a device is opened; otherwise a Mac uses Accelerate's products

const known = JSON.parse(readFileSync(new URL('../answers/draw-hash.json', import.meta.url), 'utf8'));
const { seed, stream, rows } = known;
// The kernels for lesser processors that this processor can run, too. A sanitizer does not check them
// (test/metal/softmetal/build.mjs).
const whyNot = (set: LesserSet) => (sanitized ? 'no sanitizer checks them' : noLesser(set));
const lesserSets = (['avx2', 'baseline'] as const).filter((set) => whyNot(set) === '');
if (isAsked('cpu') && noCpu === '')
  for (const set of ['avx2', 'baseline'] as const)
    if (!lesserSets.includes(set)) console.log(`skipped  draws by the kernels (${set}): ${whyNot(set)}`);
const cuts = [[rows], [300, 700], [17, 283, 700], [1, 2, 3, 4, 5, 15, 16, 954]];

function hashOf(values: Float32Array | Float64Array): string {
  let hash = 0;
  for (const word of new Uint32Array(values.buffer)) hash = (Math.imul(hash, 31) + word) | 0;
  return (hash >>> 0).toString(16).padStart(8, '0');
}

// The last two are deeper than two blocks of a product, and their factors are larger than the second cache.
for (const dtype of ['float32', 'float64'] as const)
  for (const n of [2, 16, 17, 100, 250, 530, 1000]) {
    const Values = dtype === 'float32' ? Float32Array : Float64Array;
    const entries = new Values(n * n).map((_, at) => 1 / (1 + Math.abs(Math.floor(at / n) - (at % n))));
    for (let i = 0; i < n; i++) entries[i * (n + 1)]! += 1;
    const covariance = Matrix.from(entries, { columns: n });
    const mean = Array.from({ length: n }, (_, i) => i / 8);

    /** The hash of all rows, drawn in pieces of these sizes. */
    const hashIn = (device: Device, pieces: readonly number[]): string => {
      assert.is(device.name, 'Built-in BLAS');
      using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, mean, covariance });
      const draws = new Values(rows * n);
      let firstRow = 0;
      for (const count of pieces) {
        const out = draws.subarray(firstRow * n, (firstRow + count) * n) as typeof draws;
        normal.sampleSync(count, { seed, stream, firstRow, out });
        firstRow += count;
      }
      return hashOf(draws);
    };

    onNative(`${dtype}, n = ${n}: draws have the known bits with any number of threads and any cuts.`, () => {
      for (const threads of [1, 2, 3]) {
        using device = openDevice('cpu', { threads });
        for (const pieces of n >= 530 ? cuts.slice(2) : cuts)
          assert.is(hashIn(device, pieces), known[dtype][n], `${threads} threads: ${pieces}`);
      }
    });

    // The baseline lacks the processor's instruction for multiply-adds, so each is a slow call.
    for (const set of n === 1000 ? [] : lesserSets)
      onNative(`${dtype}, n = ${n}: draws by the kernels (${set}) have the known bits, too.`, () => {
        using device = withLesser(set, () => openDevice('cpu', { threads: 2 }));
        assert.is(hashIn(device, [283, 717]), known[dtype][n]);
      });

    onNative(`${dtype}, n = ${n}: draws by a precision matrix have the same bits with any threads and cuts.`, () => {
      const hashes = new Set<string>();
      for (const threads of [1, 3]) {
        using device = openDevice('cpu', { threads });
        using normal = MultivariateNormal.fromPrecisionSync({ device, dtype, mean, precision: covariance });
        for (const pieces of [[100], [1, 20, 79]]) {
          const draws = new Values(100 * n);
          let firstRow = 0;
          for (const count of pieces) {
            const out = draws.subarray(firstRow * n, (firstRow + count) * n) as typeof draws;
            normal.sampleSync(count, { seed, stream, firstRow, out });
            firstRow += count;
          }
          hashes.add(hashOf(draws));
        }
      }
      assert.is(hashes.size, 1);
    });
  }

for (const dtype of ['float32', 'float64'] as const)
  onNative(`${dtype}: draws of low rank and of singular normals have the same bits with any cuts and threads.`, () => {
    const [n, k] = [130, 7];
    const entries = Float64Array.from({ length: n * k }, (_, at) => Math.sin(at * at));
    const factor = Matrix.from(entries, { columns: k });
    const rows = factor.toArray();
    const covariance = rows.map((a) => rows.map((b) => a.reduce((sum, value, at) => sum + value * b[at]!, 0)));
    const draws: number[][] = [];
    for (const threads of [1, 2]) {
      using device = openDevice('cpu', { threads });
      using low = MultivariateNormal.fromLowRankSync({ device, dtype, factor, diagonal: 0.5 });
      using singular = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance, singular: 'pivoted' });
      assert.is(singular.rank, k);
      for (const pieces of cuts)
        draws.push(
          [low, singular].flatMap((normal) => {
            let firstRow = 0;
            return pieces.flatMap((count) => {
              const piece = normal.sampleSync(count, { seed, stream, firstRow });
              firstRow += count;
              return Array.from(piece.data);
            });
          }),
        );
    }
    for (const each of draws.slice(1)) assert.ok(each.every((value, at) => Object.is(value, draws[0]![at])));
  });

for (const dtype of ['float32', 'float64'] as const)
  onNative(
    `${dtype}: densities of rows have the same bits with any cuts, though a few rows are whitened another way.`,
    () => {
      using device = openDevice('cpu', { threads: 2 });
      const count = 18;
      for (const n of [1, 7, 15, 16, 17, 31, 32, 33, 47, 130, 250]) {
        const values = Float64Array.from({ length: n * n }, (_, at) => {
          const [i, j] = [Math.floor(at / n), at % n];
          return i === j ? 1 + i / n : j < i ? Math.sin(at + 1) / n : 0;
        });
        const factor = Matrix.from(values, { columns: n });
        using normal = MultivariateNormal.fromCholeskySync({ device, dtype, factor });
        const rows = Float64Array.from({ length: count * n }, (_, at) => Math.cos(at * at));
        const of = (pieces: readonly number[]) => {
          let first = 0;
          return pieces.flatMap((here) => {
            const piece = Matrix.from(rows.subarray(first * n, (first + here) * n), { columns: n, dtype });
            first += here;
            return Array.from(normal.logPdfSync(piece).data);
          });
        };
        const together = of([count]);
        for (const pieces of [Array(count).fill(1), [2, 3, 4, 4, 3, 2], [5, 13]])
          assert.equal(of(pieces), together, `${n} columns, ${pieces}`);
        const [first] = together;
        assert.ok(Number.isFinite(first), `${n} columns: ${first}`);
      }
    },
  );

test.run();
