import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Real } from '../../lib/dtype.ts';
import { columnsLength, writeColumns } from '../../lib/factor/columns.ts';
import { onEveryBackend } from '../harness/every-backend.ts';
import { dot, dotOf, guarded, hasSameBytes, isNear, lowerFactor, scattered, transposeOf } from '../harness/naive.ts';
import { throwsCode } from '../harness/throws-code.ts';

const dimensions = [1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 300];
const counts = [0, 1, 2, 7, 33, 129];

onEveryBackend('copies and sums are exact, in pieces and in place.', ({ run, real }) => {
  for (const length of [0, 1, 7, 1000, 65535, 65536, 65537, 200001]) {
    const [a, b] = [real(scattered(length, 1)), real(scattered(length, 2))];
    const [to, out] = [guarded(real(new Float64Array(length))), guarded(real(a))];
    run((encoder) => {
      encoder.copy(a, to.view);
      encoder.sum(out.view, b, out.view);
    });
    hasSameBytes(to.view, a, `copy of ${length}`);
    hasSameBytes(out.view, real(a).map((value, i) => value + b[i]!) as Real, `sum of ${length}`);
    to.isIntact('copy');
    out.isIntact('sum');
  }
});

onEveryBackend('a scaled row is added to every row.', ({ run, real, eps }) => {
  for (const n of [...dimensions, 1000]) {
    for (const count of counts) {
      const [rows, row] = [real(scattered(count * n, n)), real(scattered(n, 3))];
      const out = guarded(rows);
      const weight = new Float64Array([-0.75]);
      run((encoder) => encoder.addRow(out.view, row, -0.75));
      out.view.forEach((value, at) => {
        const added = dotOf(1, weight, 0, row, at % n, rows[at]);
        isNear(value, added, 2, eps, () => `${count} x ${n} at ${at}`);
      });
      out.isIntact(`rows of ${n}`);
    }
  }
});

onEveryBackend('every row is multiplied by a row, rounded once.', ({ run, real }) => {
  for (const n of [...dimensions, 1000]) {
    for (const count of counts) {
      const [rows, row] = [real(scattered(count * n, n)), real(scattered(n, 3))];
      const out = guarded(rows);
      run((encoder) => encoder.scaleColumns(out.view, row));
      hasSameBytes(out.view, rows.map((value, at) => value * row[at % n]!) as Real, `${count} x ${n}`);
      out.isIntact(`rows of ${n}`);
    }
  }
});

onEveryBackend('triangles are cleared and transposed exactly.', ({ run, real }) => {
  for (const n of [...dimensions, 1000]) {
    const a = real(scattered(n * n, n));
    const [cleared, flipped] = [guarded(a), guarded(a)];
    run((encoder) => {
      encoder.zeroUpper(cleared.view, n);
      encoder.antitranspose(flipped.view, n);
    });
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        if (cleared.view[i * n + j] !== (j > i ? 0 : a[i * n + j])) assert.unreachable(`zeroUpper ${n}: (${i}, ${j})`);
        if (flipped.view[i * n + j] !== a[(n - 1 - j) * n + n - 1 - i])
          assert.unreachable(`antitranspose ${n}: (${i}, ${j})`);
      }
    cleared.isIntact('zeroUpper');
    flipped.isIntact('antitranspose');
  }
});

onEveryBackend('each row has its sum of squares.', ({ run, real, zeros, eps }) => {
  for (const n of [...dimensions, 1000]) {
    for (const count of counts) {
      const rows = real(scattered(count * n, n + count));
      const out = guarded(zeros(count));
      run((encoder) => encoder.squaredNorms(rows, out.view, n));
      out.view.forEach((value, r) => {
        const at = (k: number) => rows[r * n + k]!;
        isNear(value, dot(n, at, at), n, eps, `row ${r} of ${count} x ${n}`);
      });
      out.isIntact('norms');
    }
  }
});

onEveryBackend('A number that is not between two limits is found, wherever it is.', ({ run, real }) => {
  const [least, most] = [-2, 0.5];
  for (const count of [1, 7, 63, 64, 65, 1000, 200_001])
    for (const at of new Set([0, count >> 1, count - 1]))
      for (const [value, isBetween] of [
        [-1.75, true],
        [least, false],
        [most, false],
        [3, false],
        [Number.NaN, false],
        [Number.NEGATIVE_INFINITY, false],
      ] as const) {
        const values = real(new Float64Array(count).fill(0.25));
        values[at] = value;
        const found = new Uint32Array(1);
        run((encoder) => encoder.findBeyond(values, least, most, found));
        assert.is(found[0], isBetween ? 0 : 1, `${value} at ${at} of ${count}`);
      }
});

onEveryBackend('Half squares become distances.', ({ run, real, dtype }) => {
  const largest = dtype === 'float32' ? 1.5 * 2 ** 127 : 1.5 * 2 ** 1023;
  for (const count of [1, 7, 33, 200_001]) {
    const some = [-0.5, 0, -0, -largest, 1e-9, Number.NEGATIVE_INFINITY, ...scattered(11, 3).map((x) => -x * x)];
    const values = guarded(real(Float64Array.from({ length: count }, (_, i) => some[i % some.length]!)));
    const wanted = real(values.view.map((half) => 2 * Math.sqrt(Math.abs(half / 2))));
    run((encoder) => encoder.distances(values.view));
    hasSameBytes(values.view, wanted, `${count}`);
    values.isIntact('distances');
  }
});

onEveryBackend(
  'normal quantiles have a relative error of at most 1e-15, in the middle and in both tails, for any count.',
  ({ run, backend }) => {
    const { probabilities, quantile }: { probabilities: number[]; quantile: number[] } = JSON.parse(
      readFileSync(new URL('../answers/standard-normal.json', import.meta.url), 'utf8'),
    );
    assert.ok(probabilities.includes(5e-324));
    // Many, so that several threads take part; an odd number, so that vectors are not full.
    for (const count of [1, 7, probabilities.length, 200_001]) {
      const values = guarded(Float64Array.from({ length: count }, (_, i) => probabilities[i % probabilities.length]!));
      run((encoder) => encoder.normalQuantiles(values.view as Float64Array));
      values.view.forEach((value, i) => {
        const wanted = quantile[i % quantile.length]!;
        if (!(Math.abs(value - wanted) <= 1e-15 * Math.abs(wanted)))
          assert.unreachable(
            `${backend.kind}: ${probabilities[i % probabilities.length]} gives ${value}, not ${wanted}`,
          );
      });
      values.isIntact('quantiles');
    }
  },
);

onEveryBackend('a product of a matrix and its own transpose is right, and symmetric.', ({ run, real, zeros, eps }) => {
  for (const n of [127, 128, 130, 193])
    for (const k of [1, 40])
      for (const transposeA of [false, true]) {
        const a = real(scattered(n * k, n + k));
        const rows = transposeA ? transposeOf(a, k, n) : a;
        const half = rows.map((value) => value / 2) as Real;
        const c = guarded(zeros(n * n));
        // With a beta of 0, c is not read.
        c.view.fill(Number.NaN);
        run((encoder) => encoder.product(a, a, c.view, n, n, k, transposeA, !transposeA, 0.5, 0));
        c.view.forEach((value, index) => {
          const [i, j] = [Math.floor(index / n), index % n];
          const what = () => `(${i}, ${j}) of ${n} x ${k}, ${transposeA}`;
          isNear(value, dotOf(k, half, i * k, rows, j * k), k, eps, what);
          if (Math.abs(value - c.view[j * n + i]!) > k * eps * k) assert.unreachable(what());
        });
        c.isIntact('product');
      }
});

onEveryBackend(
  'products are right in all four transpositions, and a beta of 0 does not read c.',
  ({ run, real, eps }) => {
    const shapes = [
      [1, 1, 1],
      [2, 7, 3],
      [9, 1, 33],
      [1, 31, 8],
      [33, 32, 31],
      [64, 65, 7],
      [129, 8, 127],
      [200, 9, 129],
      [1000, 1, 300],
      [1, 1001, 299],
      [0, 5, 3],
      [5, 3, 0],
      [0, 1, 3],
      [5, 1, 0],
      [1, 5, 0],
    ] as const;
    for (const [m, n, k] of shapes) {
      for (const transposes of [0, 1, 2, 3]) {
        const [transposeA, transposeB] = [(transposes & 1) === 1, (transposes & 2) === 2];
        if (k === 0 && !(transposeA && !transposeB)) continue; // an operand would have no columns
        const [a, b, c] = [real(scattered(m * k, 1)), real(scattered(k * n, 2)), real(scattered(m * n, 3))];
        const [kept, fresh] = [guarded(c), guarded(real(new Float64Array(m * n).fill(Number.NaN)))];
        run((encoder) => {
          encoder.product(a, b, kept.view, m, n, k, transposeA, transposeB, -1.25, 0.5);
          encoder.product(a, b, fresh.view, m, n, k, transposeA, transposeB, 1, 0);
        });
        const left = transposeA ? transposeOf(a, k, m) : a;
        const right = transposeB ? b : transposeOf(b, k, n);
        const scaled = Float64Array.from(left, (value) => -1.25 * value);
        for (let i = 0; i < m; i++)
          for (let j = 0; j < n; j++) {
            const place = () => `${m} x ${n} x ${k} (${transposes}) at (${i}, ${j})`;
            isNear(fresh.view[i * n + j]!, dotOf(k, left, i * k, right, j * k), k, eps, place);
            const sum = dotOf(k, scaled, i * k, right, j * k, 0.5 * c[i * n + j]!);
            isNear(kept.view[i * n + j]!, sum, k + 3, eps, place);
          }
        kept.isIntact('product');
        fresh.isIntact('product');
      }
    }
  },
);

onEveryBackend('an alpha of 0 gives beta c, even if the sums overflow.', ({ run, real, dtype }) => {
  const huge = dtype === 'float32' ? 1e30 : 1e300;
  for (const [m, n, k] of [
    [200, 1, 63],
    [1, 200, 63],
    [1000, 1, 300],
    [33, 40, 63],
    [130, 130, 2],
  ] as const)
    for (const transposes of [0, 1, 2, 3]) {
      const a = real(new Float64Array(m * k).fill(huge));
      const b = real(new Float64Array(k * n).fill(huge));
      const c = real(scattered(m * n, 1));
      const [kept, half, fresh] = [real(c), real(c), real(new Float64Array(m * n).fill(Number.NaN))];
      run((encoder) => {
        for (const [out, beta] of [
          [kept, 1],
          [half, 0.5],
          [fresh, 0],
        ] as const)
          encoder.product(a, b, out, m, n, k, (transposes & 1) === 1, (transposes & 2) === 2, 0, beta);
      });
      const what = `${m} x ${n} x ${k} (${transposes})`;
      hasSameBytes(kept, c, what);
      hasSameBytes(half, real(c.map((value) => value / 2)), what);
      hasSameBytes(fresh, real(new Float64Array(m * n)), what);
    }
});

onEveryBackend(
  'triangular products and solves are inverses of each other, with the factor or its transpose.',
  ({ run, real, eps }) => {
    for (const n of dimensions) {
      const factor = real(lowerFactor(n, n));
      const columns = transposeOf(factor, n, n);
      for (const count of n > 100 ? [0, 1, 33] : counts) {
        for (const transposed of [false, true]) {
          const rows = real(scattered(count * n, count));
          const [product, solution] = [guarded(rows), guarded(rows)];
          run((encoder) => {
            encoder.triangularProduct(factor, product.view, n, transposed);
            encoder.triangularSolve(factor, solution.view, n, transposed);
          });
          for (let r = 0; r < count; r++)
            for (let i = 0; i < n; i++) {
              // Row i of the factor, or of its transpose, without the zeros of its triangle.
              const [row, from, length] = transposed ? [columns, i, n - i] : [factor, 0, i + 1];
              const place = () => `${count} x ${n} at (${r}, ${i})`;
              const sum = dotOf(length, row, i * n + from, rows, r * n + from);
              isNear(product.view[r * n + i]!, sum, n, eps, place);
              // A solve is backward stable: the factor times the solution gives the row, within n roundings.
              const back = dotOf(length, row, i * n + from, solution.view, r * n + from);
              isNear(rows[r * n + i]!, back, n + 1, eps, place);
            }
          product.isIntact('product');
          solution.isIntact('solution');
        }
      }
    }
  },
);

onEveryBackend(
  'a few rows are multiplied by a column-major factor, and added to given numbers or to 0.',
  ({ run, real, eps }) => {
    for (const n of [1, 3, 16, 31, 32, 33, 130]) {
      const factor = real(lowerFactor(n, n, Number.NaN));
      const columns = real(new Array<number>(columnsLength(factor, n)).fill(Number.NaN));
      writeColumns(factor, columns, n);
      for (const count of [0, 1, 2, 3, 4, 5]) {
        const [z, start] = [real(scattered(count * n, count)), real(scattered(n, 9))];
        const [begun, fresh] = [guarded(z), guarded(z)];
        run((encoder) => {
          encoder.multiplyColumns(columns, start, z, begun.view, n);
          encoder.multiplyColumns(columns, start.subarray(0, 0), z, fresh.view, n);
        });
        for (let at = 0; at < count * n; at++) {
          const [i, first] = [at % n, at - (at % n)];
          const place = () => `${count} x ${n} at (${first / n}, ${i})`;
          isNear(fresh.view[at]!, dotOf(i + 1, factor, i * n, z, first), n, eps, place);
          isNear(begun.view[at]!, dotOf(i + 1, factor, i * n, z, first, start[i]!), n + 1, eps, place);
        }
        begun.isIntact('from a start');
        fresh.isIntact('from 0');
      }
    }
  },
);

onEveryBackend('a Cholesky solve is the solve by the factor, then by its transpose.', ({ run, real, eps }) => {
  for (const n of dimensions) {
    const factor = real(lowerFactor(n, n, Number.NaN));
    const columns = transposeOf(factor, n, n);
    for (const count of n > 100 ? [0, 1, 33] : counts) {
      const rows = real(scattered(count * n, count));
      const solution = guarded(rows);
      run((encoder) => encoder.choleskySolve(factor, solution.view, n));
      for (let r = 0; r < count; r++) {
        const half = Array.from({ length: n }, (_, k) => dotOf(n - k, columns, k * n + k, solution.view, r * n + k));
        for (let i = 0; i < n; i++) {
          // factor (factor' y) gives the row back, because both solves are backward stable.
          const back = { value: 0, size: 0 };
          for (let k = 0; k <= i; k++) {
            back.value += factor[i * n + k]! * half[k]!.value;
            back.size += Math.abs(factor[i * n + k]!) * half[k]!.size;
          }
          isNear(rows[r * n + i]!, back, 2 * n + 2, eps, () => `${count} x ${n} at (${r}, ${i})`);
        }
      }
      solution.isIntact(`solution of ${count} x ${n}`);
    }
  }
});

onEveryBackend('an asymmetric factor is not confused with its transpose.', ({ run, real, eps }) => {
  const factor = real([0.2, Number.NaN, 0.2, 20]);
  const near = (actual: Real, expected: readonly number[]) =>
    actual.forEach((value, i) => {
      isNear(value, { value: expected[i]!, size: Math.abs(expected[i]!) }, 8, eps, `entry ${i}`);
    });
  const [plain, transposed, solved] = [real([1, 2]), real([1, 2]), real([0.2, 40.2])];
  run((encoder) => {
    encoder.triangularProduct(factor, plain, 2, false);
    encoder.triangularProduct(factor, transposed, 2, true);
    encoder.triangularSolve(factor, solved, 2, false);
  });
  near(plain, [0.2, 40.2]);
  near(transposed, [0.6, 40]);
  near(solved, [1, 2]);
});

onEveryBackend(
  'an encoder that is reset drops its commands, and releases their memory.',
  async ({ backend, dtype }) => {
    const { liveBytes } = backend.memory();
    const Values = dtype === 'float32' ? Float32Array : Float64Array;
    const memory = backend.allocate(4096);
    const [kept, other] = [new Values([1]), new Values([5])];
    const encoder = backend.encoder();
    encoder.copy(other, kept);
    encoder.sum(new Values(memory, 0, 8), new Values(memory, 0, 8), new Values(memory, 0, 8));
    encoder.cholesky(other, 1, 'cpu');
    encoder.reset();
    backend.release(memory);
    assert.is(backend.memory().liveBytes, liveBytes);
    encoder.sum(kept, kept, kept);
    assert.is(encoder.commitSync().factor, undefined);
    assert.equal([kept[0], other[0]], [2, 5]);
    encoder.reset();
    encoder.sum(kept, other, kept);
    const committed = encoder.commit();
    await throwsCode('ERR_CLOSED', () => encoder.reset());
    await committed;
    assert.is(kept[0], 7);
  },
);

onEveryBackend('device memory works as an operand, from an offset too.', ({ backend, run, dtype }) => {
  const memory = backend.allocate(4096);
  const Values = dtype === 'float32' ? Float32Array : Float64Array;
  const [a, b] = [new Values(memory, 64, 30), new Values(memory, 1024, 30)];
  a.set(scattered(30, 5));
  run((encoder) => encoder.copy(a, b));
  hasSameBytes(b, a, 'copy in device memory');
  backend.release(memory);
  assert.is(a.length, 0, 'release() detaches');
});

test.run();
