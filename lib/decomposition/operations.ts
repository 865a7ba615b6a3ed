import type {
  LeastSquaresOptions,
  LinearAlgebraOptions,
  Operations,
  SampleCovarianceOptions,
} from '../array/linear-algebra.ts';
import { provideOperations } from '../array/linear-algebra.ts';
import { Matrix } from '../array/matrix.ts';
import { type Operand, requireRows, requireSquare } from '../array/operand.ts';
import type { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import type { Encoder } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { firstNotFinite, orElse, quoted, wholeNumber } from '../check.ts';
import { runWith } from '../command/abort.ts';
import { withEigenvalues } from '../command/float64.ts';
import type { Scratch } from '../command/scratch.ts';
import { runAllSync, type Tasks } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import { dtypeOf, type Real, type RealDtype, smallestNormal, zerosOf } from '../dtype.ts';
import { inPieces, type Work } from '../work.ts';
import { committed, type Place, placeOf, requireOperand, rightSide, rowsOf, shapedAs } from './place.ts';
import { ScaledProduct } from './scaled-product.ts';
import { inUnit, placeInUnit, rowsInUnits, timesPower } from './unit.ts';

/** A copy of the matrix, which commands may change, with `columns` finite numbers in each row. */
function finiteCopy(place: Place, columns: number, encoder: Encoder, scratch: Scratch): Real {
  const rows = scratch.copyByCommand(encoder, place.values());
  encoder.requireFinite(rows, columns);
  return rows;
}

// The parts of a decomposition of a matrix without rows would not be matrices.
function requireSomeRows(matrix: Matrix): readonly [number, number] {
  if (matrix.rows > 0) return [matrix.rows, matrix.columns];
  throw new CovariumError(
    'ERR_SHAPE',
    `\`matrix\` has (0) rows and (${matrix.columns}) columns: it needs at least one row.`,
  );
}

function* eigh(matrix: Matrix, options: LinearAlgebraOptions): Tasks<unknown> {
  const place = placeOf(matrix, options);
  const n = requireSquare('Matrix', matrix);
  const encode = (encoder: Encoder, [values, vectors]: readonly Real[], scratch: Scratch) => {
    const rows = finiteCopy(place, n, encoder, scratch);
    encoder.symmetricEigen(rows, values!, n, true);
    encoder.transpose(rows, vectors!, n, n);
  };
  const commands = (runsOn: OpenBackend) => committed(place, [n, n * n], encode, runsOn);
  const [values, vectors] = yield* withEigenvalues(place.device, commands);
  yield* requireHeld([values!, vectors!], place, 'Eigenvalue', 'Scale `matrix`.');
  return { values: new Vector(values!), vectors: new Matrix(vectors!, n, n) };
}

function* svd(matrix: Matrix, options: LinearAlgebraOptions): Tasks<unknown> {
  const place = placeOf(matrix, options);
  const [m, n] = requireSomeRows(matrix);
  const k = Math.min(m, n);
  const [u, s, vt] = yield* committed(place, [m * k, k, k * n], (encoder, [u, s, vt], scratch) => {
    const rows = finiteCopy(place, n, encoder, scratch);
    encoder.svd(rows, u!, s!, vt!, m, n, false);
  });
  yield* requireHeld([s!, u!, vt!], place, 'Singular value', 'Scale `matrix`.');
  return { u: new Matrix(u!, m, k), s: new Vector(s!), vt: new Matrix(vt!, k, n) };
}

// If A' = L Q, then A = Q' L'.
function* qr(matrix: Matrix, options: LinearAlgebraOptions): Tasks<unknown> {
  const place = placeOf(matrix, options);
  const [m, n] = requireSomeRows(matrix);
  const k = Math.min(m, n);
  const [q, r] = yield* committed(place, [m * k, k * n], (encoder, [q, r], scratch) => {
    const whole = finiteCopy(place, n, encoder, scratch);
    const [lower, rows] = [scratch.output(place.dtype, n * m), scratch.output(place.dtype, k * m)];
    encoder.transpose(whole, lower, m, n);
    encoder.lq(lower, rows, n, m);
    encoder.transpose(rows, q!, k, m);
    encoder.transpose(lower, whole, n, m);
    encoder.copy(whole.subarray(0, k * n), r!);
  });
  yield* requireHeld([r!, q!], place, 'R entry', 'Scale `matrix`.');
  return { q: new Matrix(q!, m, k), r: new Matrix(r!, k, n) };
}

function* solve(matrix: Matrix, b: Operand, options: LinearAlgebraOptions): Tasks<unknown> {
  const given = placeOf(matrix, options, requireOperand(b));
  const { place, unit } = placeInUnit(given);
  const n = requireSquare('Matrix', matrix);
  const { values: right, columns } = rightSide(place, b);
  requireRows('`b`', rowsOf(b), n, 'matrix', 'rows');
  const { values, exponent } = inUnit(right);
  const x = yield* solution(place, values, n, columns);
  timesPower(x, exponent - unit);
  const held = yield* heldSolution(x, given, right, n, 'Solution entry', 'Scale `matrix` or `b`.');
  return shapedAs(b, held, n, columns);
}

/** The solution x (n x columns) of A x = b. */
function* solution(place: Place, b: () => Real, n: number, columns: number): Tasks<Storage> {
  const encode = (encoder: Encoder, [x]: readonly Real[], scratch: Scratch) => {
    const triangles = finiteCopy(place, n, encoder, scratch);
    const right = scratch.input(b(), place.dtype);
    encoder.requireFinite(right, columns);
    const rows = columns === 1 ? x! : scratch.output(place.dtype, right.length);
    encoder.transpose(right, rows, n, columns);
    encodeSolve(triangles, rows, n, encoder, scratch);
    if (columns > 1) encoder.transpose(rows, x!, columns, n);
  };
  const [x] = yield* committed(place, [n * columns], encode, place.device);
  return x!;
}

/**
 * The solution x of A x = b if it is finite. Where rows of A are in units far apart, a step to x may have overflowed:
 * then it is solved again with each row in a unit of its own. Throws like {@link requireHeld}.
 */
function* heldSolution(
  x: Storage,
  place: Place,
  b: () => Real,
  n: number,
  name: string,
  remedy: string,
): Tasks<Storage> {
  if ((yield* notFiniteIn(x)) === x.values.length) return x;
  const scaled = yield* rowsInUnits(place.values(), b(), n);
  let held = x;
  if (scaled !== undefined) {
    const { values, exponent } = inUnit(() => scaled.right);
    x.close();
    held = yield* solution({ ...place, values: () => scaled.rows }, values, n, scaled.right.length / n);
    timesPower(held, exponent);
  }
  yield* requireHeld([held], place, name, remedy);
  return held;
}

/** Replaces each of the rows b by the solution of A x = b, and A by its factors. */
function encodeSolve(a: Real, rows: Real, n: number, encoder: Encoder, scratch: Scratch): void {
  const pivots = scratch.output(dtypeOf(a) as RealDtype, n);
  encoder.lu(a, pivots, n);
  encoder.luSolve(a, pivots, rows, n);
}

function* inverse(matrix: Matrix, options: LinearAlgebraOptions): Tasks<unknown> {
  const given = placeOf(matrix, options);
  const { place, unit } = placeInUnit(given);
  const n = requireSquare('Matrix', matrix);
  const identity = (rows: Real) => {
    for (let i = 0; i < n; i++) rows[i * (n + 1)] = 1;
    return rows;
  };
  const encode = (encoder: Encoder, [x]: readonly Real[], scratch: Scratch) => {
    const triangles = finiteCopy(place, n, encoder, scratch);
    const rows = identity(scratch.zeros(place.dtype, n * n));
    encodeSolve(triangles, rows, n, encoder, scratch);
    encoder.transpose(rows, x!, n, n);
  };
  const [x] = yield* committed(place, [n * n], encode, place.device);
  timesPower(x!, -unit);
  const right = () => identity(zerosOf(place.dtype, n * n) as Real);
  const held = yield* heldSolution(x!, given, right, n, 'Inverse entry', 'Scale `matrix`.');
  return new Matrix(held, n, n);
}

function* det(matrix: Matrix, options: LinearAlgebraOptions): Tasks<unknown> {
  return (yield* determinantOf(matrix, options)).value;
}

function* slogdet(matrix: Matrix, options: LinearAlgebraOptions): Tasks<unknown> {
  const { sign, logarithm } = yield* determinantOf(matrix, options);
  return { sign, logAbsDet: logarithm };
}

function* determinantOf(matrix: Matrix, options: LinearAlgebraOptions): Tasks<ScaledProduct> {
  const { place, unit } = placeInUnit(placeOf(matrix, options));
  const n = requireSquare('Matrix', matrix);
  const encode = (encoder: Encoder, [triangles, pivots]: readonly Real[], scratch: Scratch) => {
    encoder.copy(scratch.input(place.values(), place.dtype), triangles!);
    encoder.requireFinite(triangles!, n);
    encoder.lu(triangles!, pivots!, n);
  };
  const [triangles, pivots] = yield* committed(place, [n * n, n], encode, place.device);
  const determinant = new ScaledProduct();
  const [factored, swaps, power] = [triangles!.values, pivots!.values, 2 ** unit];
  for (let i = 0; i < n; i++) {
    determinant.multiply(swaps[i] === i ? factored[i * (n + 1)]! : -factored[i * (n + 1)]!);
    determinant.multiply(power);
  }
  triangles!.close();
  pivots!.close();
  return determinant;
}

// For m >= n: [A b]' = L Q'. The first n columns of L are R' and, below it, b' Q: (n + columns) x n numbers. R has the
// singular values of A.
function* triangleOf(place: Place, b: Real, m: number, n: number, columns: number): Tasks<readonly Storage[]> {
  const { dtype } = place;
  const height = n + columns;
  return yield* committed(place, [n, height * n], (encoder, [s, triangle], scratch) => {
    const [rows, given] = [scratch.input(place.values(), dtype), scratch.input(b, dtype)];
    encoder.requireFinite(rows, n);
    encoder.requireFinite(given, columns);
    const [lower, none] = [scratch.output(dtype, height * m), scratch.output(dtype, 0)];
    encoder.transpose(rows, lower.subarray(0, n * m), m, n);
    encoder.transpose(given, lower.subarray(n * m), m, columns);
    encoder.lq(lower, none, height, m);
    const [upper, copy] = [scratch.output(dtype, m * height), scratch.output(dtype, n * n)];
    encoder.transpose(lower, upper, height, m);
    encoder.transpose(upper.subarray(0, n * height), triangle!, n, height);
    encoder.copy(triangle!.subarray(0, n * n), copy);
    encoder.svd(copy, none, s!, none, n, n, false);
  });
}

// For m < n: A = U diag(s) V, and b' U (columns x m).
function* spectrumOf(place: Place, b: Real, m: number, n: number, columns: number): Tasks<readonly Storage[]> {
  const { dtype } = place;
  return yield* committed(place, [m, columns * m, m * n], (encoder, [s, along, v], scratch) => {
    const rows = finiteCopy(place, n, encoder, scratch);
    const [given, u] = [scratch.input(b, dtype), scratch.output(dtype, m * m)];
    encoder.requireFinite(given, columns);
    encoder.svd(rows, u, s!, v!, m, n, false);
    encoder.product(given, u, along!, columns, m, m, true, false, 1, 0);
  });
}

// R x = Q' b if all singular values count; else x = V diag(1 / s) U' b over those that do.
function* lstsq(matrix: Matrix, b: Operand, options: LeastSquaresOptions): Tasks<unknown> {
  const { place, unit } = placeInUnit(placeOf(matrix, options, requireOperand(b), ['rcond']));
  const { dtype } = place;
  const [m, n] = requireSomeRows(matrix);
  const k = Math.min(m, n);
  const { values: given, columns } = rightSide(place, b);
  requireRows('`b`', rowsOf(b), m, 'matrix', 'rows');
  const { rcond = Math.max(m, n) * (dtype === 'float32' ? 2 ** -23 : 2 ** -52) } = options;
  if (!(typeof rcond === 'number' && rcond >= 0 && rcond <= 1))
    throw new CovariumError('ERR_OUT_OF_RANGE', `\`rcond\` is (${quoted(rcond)}): pass a share from 0 to 1.`);
  const { values, exponent } = inUnit(given);
  const isWide = m < n;
  const [s, ...parts] = yield* (isWide ? spectrumOf : triangleOf)(place, values(), m, n, columns);
  // A share of 0 means the unit roundoff, as in LAPACK's gelsd: below it is what rounding leaves of a 0.
  const share = rcond > 0 ? rcond : dtype === 'float32' ? 2 ** -24 : 2 ** -53;
  const least = share * s!.values[0]!;
  const smallest = smallestNormal[dtype];
  // The reciprocals of huge values are subnormal: then x is computed times 2^lift.
  const lift = s!.values[0]! > 1 / smallest ? 4 : 0;
  const inverses = Float64Array.from(s!.values, (value) => (value > least ? 2 ** lift / value : 0));
  const rank = inverses.filter((inverse) => inverse > 0).length;
  // A triangular solve multiplies by the reciprocals of R's diagonal, which lies between the singular values.
  const isRegular = rank === n && lift === 0 && s!.values[n - 1]! >= smallest;
  const [first, right] = parts.map((part) => part.values as Real) as [Real, Real];
  const encode = (encoder: Encoder, [x]: readonly Real[], scratch: Scratch) => {
    // One row of x is its transpose.
    const rows = columns === 1 ? x! : scratch.output(dtype, columns * n);
    if (isWide) {
      encoder.scaleColumns(first, scratch.copy(inverses, dtype));
      encoder.product(first, right, rows, columns, n, k, false, false, 1, 0);
    } else if (isRegular) {
      encoder.copy(first.subarray(n * n), rows);
      encoder.triangularSolve(first.subarray(0, n * n), rows, n, true);
    } else {
      const [u, v, along] = [n * n, n * n, columns * n].map((length) => scratch.output(dtype, length));
      encoder.svd(first.subarray(0, n * n), u!, scratch.output(dtype, n), v!, n, n, false);
      encoder.product(first.subarray(n * n), v!, along!, columns, n, n, false, true, 1, 0);
      encoder.scaleColumns(along!, scratch.copy(inverses, dtype));
      encoder.product(along!, u!, rows, columns, n, n, false, true, 1, 0);
    }
    if (columns !== 1) encoder.transpose(rows, x!, columns, n);
  };
  try {
    const [x] = yield* committed(place, [n * columns], encode);
    timesPower(x!, exponent - unit - lift);
    timesPower(s!, unit);
    yield* requireHeld([x!, s!], place, 'Solution entry', 'Scale `matrix` or `b`.');
    return { x: shapedAs(b, x!, n, columns), rank, s: new Vector(s!) };
  } finally {
    for (const part of parts) part.close();
  }
}

/**
 * Requires the first of a result's storages to be finite, as they would be but for their type; otherwise closes all of
 * them and throws `ERR_OUT_OF_RANGE`.
 */
function* requireHeld(storages: readonly Storage[], { dtype }: Place, name: string, remedy: string): Work {
  const { values } = storages[0]!;
  const at = yield* notFiniteIn(storages[0]!);
  if (at === values.length) return;
  const message = `${name} (${at}) is (${values[at]}): it is beyond (${dtype}), or a step to it is. ${remedy}`;
  for (const storage of storages) storage.close();
  throw new CovariumError('ERR_OUT_OF_RANGE', message);
}

/** Where the first number that is not finite lies; their count if there is none. */
function* notFiniteIn(storage: Storage): Work<number> {
  const values = storage.values as Real;
  let at = 0;
  yield* inPieces(values.length, (from, to) => {
    if (at === from) at += firstNotFinite(values.subarray(from, to));
  });
  return at;
}

function* multiply(matrix: Matrix, b: Operand, options: LinearAlgebraOptions): Tasks<unknown> {
  const place = placeOf(matrix, options, requireOperand(b));
  const { rows: m, columns: n } = matrix;
  const { operand, columns } = rightSide(place, b);
  requireRows('`b`', rowsOf(b), n, 'matrix', 'columns');
  const [c] = yield* committed(
    place,
    [m * columns],
    (encoder, [c], scratch) => {
      const [left, right] = [scratch.input(place.operand, place.dtype), scratch.input(operand, place.dtype)];
      encoder.product(left, right, c!, m, columns, n, false, false, 1, 0);
    },
    place.device,
  );
  return shapedAs(b, c!, m, columns);
}

function* covariance(matrix: Matrix, options: SampleCovarianceOptions): Tasks<unknown> {
  const place = placeOf(matrix, options, undefined, ['ddof']);
  const { rows: m, columns: n } = matrix;
  const ddof = wholeNumber('`ddof`', orElse(options.ddof, 1));
  if (m <= ddof)
    throw new CovariumError(
      'ERR_SHAPE',
      `\`ddof\` is (${ddof}), but \`matrix\` has (${m}) rows: a covariance takes more.`,
    );
  const [spread] = yield* committed(
    place,
    [n * n],
    (encoder, [spread], scratch) => {
      const rows = scratch.input(place.operand, place.dtype);
      encoder.requireFinite(rows, n);
      encoder.meanAndCovariance(rows, scratch.output(place.dtype, n), spread!, ddof);
    },
    place.device,
  );
  return new Matrix(spread!, n, n);
}

function* transpose(matrix: Matrix, options: LinearAlgebraOptions): Tasks<unknown> {
  const place = placeOf(matrix, options);
  const [m, n] = requireSomeRows(matrix);
  const [out] = yield* committed(
    place,
    [m * n],
    (encoder, [out], scratch) => encoder.transpose(scratch.input(place.operand, place.dtype), out!, m, n),
    place.device,
  );
  return new Matrix(out!, n, m);
}

type Operation = (matrix: Matrix, ...operands: never[]) => Tasks<unknown>;

const all: { readonly [name: string]: Operation } = {
  eigh,
  svd,
  qr,
  solve,
  lstsq,
  inverse,
  det,
  slogdet,
  multiply,
  transpose,
  covariance,
};

function begun(name: string, matrix: unknown, operands: readonly unknown[]): Tasks<unknown> {
  return all[name]!(matrix as Matrix, ...(operands as never[]));
}

/** The operations of {@link Matrix}. */
const operations: Operations = {
  run: (name, matrix, operands) =>
    runWith(operands.at(-1) as object, (rest) => begun(name, matrix, [...operands.slice(0, -1), rest])),
  runSync: (name, matrix, operands) => runAllSync(begun(name, matrix, operands)),
};

provideOperations(operations);
