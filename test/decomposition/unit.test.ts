import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, type RealDtype, Vector } from '../../lib/index.ts';
import { onEveryType } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { throwsCode } from '../harness/throws-code.ts';

const matrixOf = (rows: readonly (readonly number[])[], unit: number, dtype: RealDtype) =>
  Matrix.from(
    rows.map((row) => row.map((entry) => entry * unit)),
    { dtype },
  );

onEveryType('matrices and right-hand sides of tiny and huge numbers keep their digits.', (device, dtype, tolerance) => {
  const square = [[1, 2], [3, 5]]; // biome-ignore format: a matrix
  // The numbers at the bottom are subnormal, and sums of those at the top overflow soon.
  const [top, bottom] = dtype === 'float32' ? [2 ** 123, 2 ** -130] : [2 ** 1019, 2 ** -1026];
  const middle = Math.sqrt(top * 2);
  for (const [unit, own] of [
    [bottom, bottom],
    [bottom, bottom * middle],
    [top, top],
    [top, top / middle],
    [1, 1 / top],
    [1, top],
  ] as const) {
    const what = `${dtype}, ${unit}, ${own}`;
    const matrix = matrixOf(square, unit, dtype);
    // 5 = 1 + 2 2 and 13 = 3 + 5 2.
    const b = Vector.from([5 * own, 13 * own], { dtype });
    near(
      matrix.solveSync(b, { device }).data.map((value) => value * (unit / own)),
      [1, 2],
      20 * tolerance,
      `${what}: solve`,
    );
    const tall = matrixOf([...square, [0, 0]], unit, dtype);
    const long = Vector.from([5 * own, 13 * own, own], { dtype });
    for (const { x, rank, s } of [matrix.lstsqSync(b, { device }), tall.lstsqSync(long, { device })]) {
      near(
        x.data.map((value) => value * (unit / own)),
        [1, 2],
        20 * tolerance,
        `${what}: lstsq`,
      );
      near(
        s.data.map((value) => value / unit),
        [6.24294338386553, 0.1601808535673144],
        20 * tolerance,
        `${what}: s`,
      );
      assert.is(rank, 2);
    }
  }
  near(
    matrixOf(square, top, dtype)
      .inverseSync({ device })
      .data.map((value) => value * top),
    [-5, 2, 3, -1],
    20 * tolerance,
    'inverse',
  );
  // A float64 holds the determinant of float32 numbers.
  for (const unit of dtype === 'float32' ? [top, bottom] : [2 ** 505, 2 ** -505]) {
    const determinant = matrixOf(square, unit, dtype).detSync({ device });
    near([determinant / unit / unit], [-1], 20 * tolerance, `${unit}: determinant`);
  }
});

onEveryType('sums of numbers near the largest of the type do not overflow in between.', (device, dtype, tolerance) => {
  const largest = dtype === 'float32' ? 3 * 2 ** 126 : 3 * 2 ** 1022;
  const matrix = matrixOf([[1, 1], [1, -1]], largest, dtype); // biome-ignore format: short
  const b = Vector.from([largest / 2, largest / 4], { dtype });
  near(matrix.solveSync(b, { device }).data, [3 / 8, 1 / 8], tolerance, 'solve');
  const { x, rank } = matrix.lstsqSync(b, { device });
  near(x.data, [3 / 8, 1 / 8], tolerance, 'lstsq');
  assert.is(rank, 2);
  near(
    matrix.inverseSync({ device }).data.map((value) => value * largest),
    [0.5, 0.5, 0.5, -0.5],
    tolerance,
    'inverse',
  );
  // Numbers that are tiny beside the largest are not lost.
  const graded = matrixOf([[largest, 0], [0, 16 / largest]], 1, dtype); // biome-ignore format: short
  const right = Vector.from([largest, 32 / largest], { dtype });
  near(graded.solveSync(right, { device }).data, [1, 2], tolerance, 'graded');
  const columns = 20;
  const many = Matrix.from([Array(columns).fill(largest), Array(columns).fill(32 / largest)], { dtype });
  const both = [...Array<number>(columns).fill(1), ...Array<number>(columns).fill(2)];
  near(graded.solveSync(many, { device }).data, both, tolerance, 'graded, of many columns');
  // The reciprocal of R's diagonal is subnormal, and 1 is an ordinary number, so that the unit stays.
  const half = largest / 2;
  const tall = Matrix.from([[half, half], [half, -half], [1, 0]], { dtype }); // biome-ignore format: a matrix
  const least = tall.lstsqSync(Vector.from([half, half / 2, 0], { dtype }), { device });
  near(least.x.data, [3 / 4, 1 / 4], tolerance, 'lstsq beside an ordinary number');
});

onEveryType('columns in very different units keep their digits.', (device, dtype, tolerance) => {
  // The large entry of the second row would be its pivot, and 3 would be lost beside it.
  const huge = dtype === 'float32' ? 2 ** 50 : 2 ** 66;
  const matrix = Matrix.from([[2, 3, -5], [3, 0, huge], [1, -2, 5]], { dtype }); // biome-ignore format: a matrix
  const x = matrix.solveSync(Vector.from([1, 2, 3], { dtype }), { device }).toArray();
  near([x[0]!, x[1]!, x[2]! * huge], [11 / 7, -5 / 7, -19 / 7], 20 * tolerance, 'solve');
  const inverse = matrix.inverseSync({ device }).toArray();
  near(
    inverse.flatMap((row, i) => row.map((entry) => entry * (i === 2 ? huge : 1))),
    [2 / 7, 0, 3 / 7, 1 / 7, 0, -2 / 7, -6 / 7, 1, -9 / 7],
    20 * tolerance,
    'inverse',
  );
  // Large enough that the devices work in blocks; the units differ as much as the type allows, and some are
  // subnormal.
  const n = 200;
  const unitOf = (j: number) => 2 ** ((dtype === 'float32' ? 18 : 150) * ((j % 7) - 3) - (j % 3));
  const rows = Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) => (i === j ? n : Math.sin(i * n + j)) * unitOf(j)),
  );
  const sums = rows.map((row) => row.reduce((sum, entry, j) => sum + entry / unitOf(j), 0));
  const solution = Matrix.from(rows, { dtype }).solveSync(Vector.from(sums, { dtype }), { device });
  near(
    solution.toArray().map((value, j) => value * unitOf(j)),
    sums.map(() => 1),
    20 * tolerance,
    'blocks',
  );
});

onEveryType(
  'rows in very different units are solved where a step would overflow.',
  async (device, dtype, tolerance) => {
    const huge = dtype === 'float32' ? 2 ** 100 : 2 ** 660;
    const matrix = Matrix.from([[1 / huge, 2 / huge], [huge, -huge]], { dtype }); // biome-ignore format: a matrix
    const x = matrix.solveSync(Vector.from([3 / huge, 0], { dtype }), { device });
    near(x.data, [1, 1], tolerance, 'solve');
    const [a, b, c, d] = matrix.inverseSync({ device }).data;
    near([a! / huge, b! * huge, c! / huge, d! * huge], [1 / 3, 2 / 3, 1 / 3, -1 / 3], tolerance, 'inverse');
    // A solution beyond the type stays one; in the unit of its row, its right side may be too.
    const small = matrixOf([[1, 2], [1, -1]], 1 / huge, dtype); // biome-ignore format: a matrix
    for (const right of [2 ** 20, 1])
      await throwsCode('ERR_OUT_OF_RANGE', 'Solution entry (0) is (Infinity)', () =>
        small.solve(
          Vector.from(
            [2 * right, 1].map((entry) => entry * huge),
            { dtype },
          ),
          { device },
        ),
      );
  },
);

onEveryType('QR of columns of huge and tiny numbers keeps their digits.', (device, dtype, tolerance) => {
  // Twice a unit is near the largest of the type, or a few times its smallest normal number.
  const [huge, minute] = dtype === 'float32' ? [2 ** 125, 2 ** -123] : [2 ** 1021, 2 ** -1019];
  for (const units of [
    [huge, huge],
    [huge, minute],
    [huge, 1],
    [1, minute],
    [minute, huge],
  ]) {
    // biome-ignore format: short
    const rows = [[1, 3], [1, 1], [1, 1], [1, -1]].map((row) => row.map((entry, j) => entry * units[j]!)); // biome-ignore format: a matrix
    const { q, r } = Matrix.from(rows, { dtype }).qrSync({ device });
    const root = Math.sqrt(0.5);
    near(q.data, [0.5, root, 0.5, 0, 0.5, 0, 0.5, -root], 20 * tolerance, `${units}: q`);
    near(
      r.data.map((entry, at) => entry / units[at % 2]!),
      [2, 2, 0, 4 * root],
      20 * tolerance,
      `${units}: r`,
    );
  }
  // Subnormal numbers of few bits.
  const least = dtype === 'float32' ? 2 ** -147 : 2 ** -1072;
  const { q, r } = Matrix.from([[least, 3 * least], [least, -least]], { dtype }).qrSync({ device }); // biome-ignore format: a matrix
  const root = Math.sqrt(0.5);
  near(q.data, [root, root, root, -root], 20 * tolerance, 'q');
  near([r.at(0, 0) / least, r.at(0, 1) / least, r.at(1, 1) / least], [1.5, 1.5, 2.75], 0, 'r'); // to their last bit
});

test.run();
