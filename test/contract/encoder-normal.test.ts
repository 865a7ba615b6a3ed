import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Encoder } from '../../lib/backend.ts';
import type { Real } from '../../lib/dtype.ts';
import { type Bench, onEveryBackend } from '../harness/every-backend.ts';
import { counterOf, dot, dotOf, guarded, hasSameBytes, isNear, lowerFactor, scattered } from '../harness/naive.ts';

function normals({ run, zeros }: Bench, length: number, first = 0, seed = 7, stream = 3): Real {
  const out = guarded(zeros(length));
  run((encoder) => encoder.fillNormal(out.view, counterOf(seed, stream, first)));
  out.isIntact('normals');
  return out.view;
}

onEveryBackend('any range of normals has the same bytes as in the whole.', (bench) => {
  const whole = normals(bench, 200_003);
  for (const first of [0, 1, 2, 3, 4, 5, 63, 65535, 65537, 131071])
    for (const length of [0, 1, 2, 3, 4, 5, 31, 127, 128, 129, 65539].filter((each) => first + each <= whole.length))
      hasSameBytes(normals(bench, length, first), whole.subarray(first, first + length), `[${first}, +${length})`);
  hasSameBytes(normals(bench, 1000, 0, 7, 3), whole.subarray(0, 1000), 'again');
  assert.is.not(normals(bench, 1, 0, 8, 3)[0], whole[0]);
  assert.is.not(normals(bench, 1, 0, 7, 4)[0], whole[0]);
});

onEveryBackend('the stream goes on where an index, or the number of a block, exceeds 32 bits.', (bench) => {
  for (const limit of [2 ** 32, 2 ** 33, 2 ** 34, 2 ** 52]) {
    const whole = normals(bench, 600, limit - 300);
    for (let first = 290; first < 310; first++)
      hasSameBytes(normals(bench, 280, limit - 300 + first), whole.subarray(first, first + 280), `${limit} ${first}`);
    assert.is(new Set(whole).size > 590, true, 'numbers of the stream do not repeat');
  }
});

/** Asserts that rows [0, count) of `sample` are mean + factor z; `inverse`: mean + factor^-1 z, by its residual. */
function isSample({ eps }: Bench, sample: Real, factor: Real, mean: Real, z: Real, inverse: boolean): void {
  const n = mean.length;
  const centred = Float64Array.from(sample, (value, at) => (inverse ? value - mean[at % n]! : 0));
  for (let r = 0; r < sample.length / n; r++) {
    // Each y was rounded after the mean was added, so |mean| counts like |y|.
    for (let i = 0; i < n; i++) {
      const place = () => `row ${r} of ${sample.length / n} x ${n}, entry ${i}`;
      if (inverse) {
        const back = dotOf(i + 1, factor, i * n, centred, r * n);
        for (let k = 0; k <= i; k++) back.size += Math.abs(factor[i * n + k]!) * 2 * Math.abs(mean[k]!);
        isNear(z[r * n + i]!, back, n + 2, eps, place);
      } else {
        isNear(sample[r * n + i]!, dotOf(i + 1, factor, i * n, z, r * n, mean[i]), n + 1, eps, place);
      }
    }
  }
}

// Around every multiple of a vector's length up to the largest narrow row, and beyond.
const narrow = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 49, 55, 57, 64, 65, 79, 81, 95, 96, 97, 111, 112, 113,
];
const dimensions = [...narrow, 127, 128, 129, 300, 1000];

onEveryBackend('a sample is mean + factor z, or mean + factor^-1 z with an inverse factor.', (bench) => {
  const z = normals(bench, 17_000, 5);
  for (const n of dimensions) {
    const [factor, mean] = [bench.real(lowerFactor(n, n, Number.NaN)), bench.real(scattered(n, 9))];
    for (const count of n < 10 ? [0, 1, 2, 7, 8, 9, 33, 1000] : n < 300 ? [1, 5, 16, 17, 67] : [1, 17]) {
      for (const inverse of [false, true]) {
        const out = guarded(bench.zeros(count * n));
        bench.run((encoder) => encoder.sample(factor, mean, out.view, inverse, counterOf(7, 3, 5)));
        isSample(bench, out.view, factor, mean, z.subarray(0, count * n), inverse);
        out.isIntact(`sample of ${count} x ${n}`);
      }
    }
  }
});

onEveryBackend('a few rows drawn from the middle of a run equal the same rows of the run.', (bench) => {
  const { real, zeros, run, eps } = bench;
  for (const n of [1, 2, 17, 33, 64, 100, 129, 300]) {
    const [factor, mean] = [real(lowerFactor(n, n)), real(scattered(n, 9))];
    const whole = zeros(60 * n);
    run((encoder) => encoder.sample(factor, mean, whole, false, counterOf(1, 2, 0)));
    for (let count = 1; count <= 20; count++) {
      const few = zeros(count * n);
      run((encoder) => encoder.sample(factor, mean, few, false, counterOf(1, 2, 23 * n)));
      // Two sums of n terms, each off by n roundings; no term or mean is larger than 7 x 2.
      const size = 14 * (1 + 2 / n) + 1;
      few.forEach((value, at) => {
        isNear(value, { value: whole[23 * n + at]!, size }, 2 * (n + 1), eps, () => `${count} x ${n} at ${at}`);
      });
    }
  }
});

onEveryBackend('entries over the diagonal of a factor, even NaN, have no effect.', (bench) => {
  const { real, zeros, run } = bench;
  for (const n of [2, 7, 33, 130, 300]) {
    for (const count of n < 300 ? [1, 3, 17, 70] : [1, 17]) {
      const rows = real(scattered(count * n, 4));
      const results = [0, Number.NaN, Number.POSITIVE_INFINITY].map((above) => {
        const [factor, mean] = [real(lowerFactor(n, n, above)), real(scattered(n, 9))];
        const all = Array.from({ length: 7 }, () => real(rows));
        const densities = [zeros(count), zeros(count)];
        run((encoder) => {
          encoder.triangularProduct(factor, all[0]!, n, false);
          encoder.triangularProduct(factor, all[1]!, n, true);
          encoder.triangularSolve(factor, all[2]!, n, false);
          encoder.triangularSolve(factor, all[3]!, n, true);
          encoder.choleskySolve(factor, all[6]!, n);
          encoder.sample(factor, mean, all[4]!, false, counterOf(1, 2, 3));
          encoder.sample(factor, mean, all[5]!, true, counterOf(1, 2, 3));
          encoder.logDensity(factor, mean, rows, densities[0]!, false, 1);
          encoder.logDensity(factor, mean, rows, densities[1]!, true, 1);
        });
        return [...all, ...densities];
      });
      for (const other of results.slice(1))
        other.forEach((values, verb) => {
          hasSameBytes(values, results[0]![verb]!, `verb ${verb} of ${count} x ${n}`);
        });
    }
  }
});

onEveryBackend('log densities are those of whitened rows, and do not change the rows.', (bench) => {
  const { real, zeros, run, eps } = bench;
  for (const n of [1, 2, 7, 8, 9, 32, 33, 129, 300]) {
    const [factor, mean] = [real(lowerFactor(n, n)), real(scattered(n, 9))];
    for (const count of n < 100 ? [0, 1, 2, 33, 129, 1025] : [1, 20]) {
      const rows = real(scattered(count * n, count + 1));
      const kept = real(rows);
      const [solved, multiplied] = [guarded(zeros(count)), guarded(zeros(count))];
      run((encoder) => {
        encoder.logDensity(factor, mean, rows, solved.view, false, -3.5);
        encoder.logDensity(factor, mean, rows, multiplied.view, true, -3.5);
      });
      hasSameBytes(rows, kept, 'rows');
      const w = new Float64Array(n);
      const x = Float64Array.from(rows, (value, at) => value - mean[at % n]!);
      for (let r = 0; r < count; r++) {
        let [squares, products] = [0, 0];
        for (let i = 0; i < n; i++) {
          w[i] = (x[r * n + i]! - dotOf(i, factor, i * n, w, 0).value) / factor[i * n + i]!;
          squares += w[i]! ** 2;
          products += dotOf(i + 1, factor, i * n, x, r * n).value ** 2;
        }
        // The factor's condition is below 8 (1 to 2 on the diagonal, rows below it sum to less than 1).
        const place = () => `row ${r} of ${count} x ${n}`;
        isNear(solved.view[r]!, { value: -3.5 - squares / 2, size: 3.5 + 4 * n }, 8 * (n + 3), eps, place);
        isNear(multiplied.view[r]!, { value: -3.5 - products / 2, size: 3.5 + 8 * n }, 8 * (n + 3), eps, place);
      }
      solved.isIntact('densities');
      multiplied.isIntact('densities');
    }
  }
});

onEveryBackend('means and covariances equal those of two passes in float64, far from the origin too.', (bench) => {
  const { real, zeros, run, eps } = bench;
  for (const n of [1, 2, 7, 33, 129]) {
    for (const count of [2, 3, 9, 255, 256, 257, 2049].filter((each) => each * n * n < 5e6)) {
      for (const [offset, ddof] of [
        [0, 1],
        [4096, 0],
      ] as const) {
        const rows = real(scattered(count * n, n).map((value) => value + offset));
        const [mean, covariance] = [guarded(zeros(n)), guarded(zeros(n * n))];
        run((encoder) => encoder.meanAndCovariance(rows, mean.view, covariance.view, ddof));
        const centre = Array.from(
          { length: n },
          (_, j) =>
            dot(
              count,
              (r) => rows[r * n + j]!,
              () => 1 / count,
            ).value,
        );
        // Column by column, so that each sum runs along two of them.
        const columns = Float64Array.from(rows, (_, at) => {
          const [column, r] = [Math.floor(at / count), at % count];
          return rows[r * n + column]! - centre[column]!;
        });
        for (let i = 0; i < n; i++) {
          const place = `${count} x ${n} from ${offset}: ${i}`;
          isNear(mean.view[i]!, { value: centre[i]!, size: offset + 1 }, 1, eps + count * 2 ** -52, place);
          for (let j = 0; j <= i; j++) {
            const { value, size } = dotOf(count, columns, i * count, columns, j * count);
            const sum = {
              value: value / (count - ddof),
              size: (size + count * offset * count * 2 ** -52) / (count - ddof),
            };
            isNear(covariance.view[i * n + j]!, sum, 1, eps + 4 * count * 2 ** -52, () => `${place}, ${j}`);
            assert.is(covariance.view[j * n + i], covariance.view[i * n + j], 'both triangles');
          }
        }
        mean.isIntact('mean');
        covariance.isIntact('covariance');
      }
    }
  }
});

onEveryBackend('third and fourth powers about a centre grow by each command, with weights or without.', (bench) => {
  const { real, run } = bench;
  for (const n of [1, 3, 16, 17, 129])
    for (const count of [0, 1, 5, 31, 32, 33, 257, 2049].filter((each) => each * n < 1e5)) {
      const rows = real(scattered(count * n, n + count).map((value) => value + 3));
      const centre = Float64Array.from(scattered(n, 5), (value) => value + 3);
      for (const weights of [[], Array.from({ length: count }, (_, r) => (r % 5) / 3)]) {
        const sums = guarded(new Float64Array(n + 1).fill(7));
        const encode = (encoder: Encoder) =>
          encoder.addPowers(rows, Float64Array.from(weights), centre, sums.view as Float64Array);
        run(encode);
        run(encode);
        const [powers, sizes] = [new Float64Array(n + 1), new Float64Array(n + 1)];
        for (let r = 0; r < count; r++) {
          const d = Array.from(centre, (middle, j) => rows[r * n + j]! - middle);
          const square = d.reduce((sum, each) => sum + each * each, 0);
          for (const [j, factor] of [...d, square].entries()) {
            powers[j]! += (weights[r] ?? 1) * square * factor;
            sizes[j]! += (weights[r] ?? 1) * square * Math.abs(factor);
          }
        }
        for (let j = 0; j <= n; j++) {
          const expected = { value: 7 + 2 * powers[j]!, size: 7 + 2 * sizes[j]! };
          isNear(sums.view[j]!, expected, n + count + 8, 2 ** -52, () => `${count} x ${n}: ${j}`);
        }
        sums.isIntact('sums');
      }
    }
  // A row of weight 0 is ignored, even if its square is infinite.
  const sums = new Float64Array(3);
  run((encoder) =>
    encoder.addPowers(real([1, 2, 1e38, 1e38]), Float64Array.of(1, 0), Float64Array.of(0, -1e300), sums),
  );
  assert.ok(
    sums.every((sum) => !Number.isNaN(sum)),
    `${sums}`,
  );
});

onEveryBackend('sums about a centre grow by each command, with products and weights or without.', (bench) => {
  const { real, run } = bench;
  const none = new Float64Array(0);
  for (const n of [1, 2, 3, 16, 17, 33, 65, 129])
    for (const count of [1, 5, 63, 64, 65, 257, 2049].filter((each) => each * n * n < 2.5e6)) {
      const rows = real(scattered(count * n, n + count).map((value) => value + 3));
      const centre = Float64Array.from(scattered(n, 5), (value) => value + 3);
      const ones = new Float64Array(count).fill(1);
      // Some weights are 0.
      for (const weights of [none, ones.map((_, r) => (r % 5) / 3)]) {
        const sums = guarded(new Float64Array(n).fill(7));
        const alone = guarded(new Float64Array(n));
        const products = guarded(new Float64Array(n * n).fill(-1));
        run((encoder) => {
          encoder.addMoments(rows, weights, centre, sums.view as Float64Array, products.view as Float64Array);
          encoder.addMoments(rows, weights, centre, sums.view as Float64Array, products.view as Float64Array);
          encoder.addMoments(rows, weights, centre, alone.view as Float64Array, none);
        });
        // Column by column, so that each sum runs along two of them.
        const columns = Float64Array.from(rows, (_, at) => {
          const [column, r] = [Math.floor(at / count), at % count];
          return rows[r * n + column]! - centre[column]!;
        });
        const weighted = columns.map((value, at) => value * (weights[at % count] ?? 1));
        for (let i = 0; i < n; i++) {
          const place = `${count} x ${n}: ${i}`;
          const { value, size } = dotOf(count, weighted, i * count, ones, 0);
          isNear(sums.view[i]!, { value: 7 + 2 * value, size: 7 + 2 * size }, count + 4, 2 ** -52, place);
          isNear(alone.view[i]!, { value, size }, count + 4, 2 ** -52, place);
          for (let j = 0; j <= i; j++) {
            const product = dotOf(count, weighted, i * count, columns, j * count);
            const expected = { value: 2 * product.value - 1, size: 2 * product.size + 1 };
            isNear(products.view[i * n + j]!, expected, count + 8, 2 ** -52, () => `${place}, ${j}`);
          }
          const above = products.view.subarray(i * n + i + 1, i * n + n);
          assert.ok(
            above.every((each) => each === -1),
            `${place}, over the diagonal`,
          );
        }
        for (const each of [sums, alone, products]) each.isIntact('sums');
      }
    }
});

onEveryBackend('numbers below brackets are counted, and numbers within are kept while there is room.', (bench) => {
  const { dtype, real, zeros, run } = bench;
  const infinity = Number.POSITIVE_INFINITY;
  const smallest = dtype === 'float32' ? 2 ** -149 : 2 ** -1074;
  for (const [n, count] of [
    [1, 1],
    [1, 5000],
    [2, 333],
    [3, 4097],
    [40, 70],
    [70, 129],
    [200, 9],
  ] as const) {
    // Halves, so that some equal a limit, and zeros of either sign.
    const rows = real(scattered(count * n, n).map((value) => Math.round(20 * value) / 10));
    const columns = Array.from({ length: n }, (_, column) => rows.filter((_, at) => at % n === column).sort());
    for (const brackets of [1, 3, 4, 5, 9]) {
      const slots = brackets * n;
      const lower = Array.from({ length: slots }, (_, at) =>
        at % 7 === 5 ? -infinity : at % 7 === 6 ? smallest : Math.round(20 * Math.sin(at)) / 10,
      );
      const upper = lower.map((value, at) => (at % 5 === 4 ? infinity : at % 5 === 3 ? -infinity : value + 0.3));
      const limits = real([...lower, ...upper]);
      const expected = Array.from({ length: slots }, (_, slot) => {
        const [from, to] = [limits[slot]!, limits[slots + slot]!];
        const column = columns[slot % n]!;
        const below = column.filter((value) => value < from).length;
        return { below, within: column.filter((value) => value >= from && value <= to) };
      });
      for (const capacity of [0, 1, 7, count]) {
        const [kept, counts] = [guarded(zeros(slots * capacity)), new Uint32Array(2 * slots)];
        const half = Math.floor(count / 2) * n;
        run((encoder) => encoder.countBetween(rows.subarray(0, half), limits, kept.view, counts, n));
        run((encoder) => encoder.countBetween(rows.subarray(half), limits, kept.view, counts, n));
        expected.forEach(({ below, within }, slot) => {
          const place = `${count} x ${n}, bracket ${slot} of ${slots}`;
          assert.is(counts[slot], below, `${place}, below`);
          assert.is(counts[slots + slot], within.length, `${place}, within`);
          const here = kept.view.slice(slot * capacity, slot * capacity + Math.min(capacity, within.length)).sort();
          if (within.length <= capacity) hasSameBytes(here, within, place);
          else
            assert.ok(
              here.every((value) => within.includes(value)),
              place,
            );
        });
        kept.isIntact('kept');
      }
    }
  }
});

onEveryBackend('the number of a given rank is selected from its slot, whatever the order there.', (bench) => {
  const { dtype, real, zeros, run } = bench;
  const smallest = dtype === 'float32' ? 2 ** -149 : 2 ** -1074;
  for (const [slots, capacity] of [
    [1, 1],
    [1, 1000],
    [3, 257],
    [70, 12],
  ] as const) {
    // Some are equal, some subnormal, some infinite.
    const numbers = scattered(slots * capacity, capacity).map((value, i) =>
      i % 7 === 3 ? smallest * Math.round(20 * value) : i % 50 === 9 ? value / 0 : Math.round(1e3 * value) * 1e5,
    );
    const lengths = Uint32Array.from({ length: slots }, (_, i) => (i % 3 === 2 ? capacity >> 1 : capacity));
    for (const share of [0, 0.3, 0.999, 1]) {
      const kept = real(numbers.map((value) => (value === 0 ? 0 : value)));
      const ranks = lengths.map((length, i) => (i % 4 === 3 ? 0xffffffff : Math.floor(share * length)));
      const [out, all] = [guarded(zeros(slots)), kept.slice()];
      out.view.fill(-5);
      run((encoder) => encoder.selectRanks(kept, lengths, ranks, out.view));
      const expected = out.view.map((_, i) => {
        const from = i * capacity;
        return all.slice(from, from + lengths[i]!).sort()[ranks[i]!] ?? -5;
      });
      hasSameBytes(out.view, expected, `${slots} slots of ${capacity}, share ${share}`);
      out.isIntact('out');
      hasSameBytes(kept.sort(), all.sort(), 'what is kept');
    }
  }
});

test.run();
