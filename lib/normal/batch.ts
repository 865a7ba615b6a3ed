import { hostValues } from '../array/host-memory.ts';
import { realDtypeOf, rowsInput } from '../array/inputs.ts';
import { Matrix, type MatrixInput } from '../array/matrix.ts';
import { requireColumns } from '../array/operand.ts';
import { Storage } from '../array/storage.ts';
import { Volume, volumeStorage } from '../array/volume.ts';
import { requireDevice } from '../backend-handle.ts';
import { about, argumentOf, marked, named, wrongArgument } from '../check.ts';
import { type Task, taskOf } from '../command/task.ts';
import { CovariumError } from '../covarium-error.ts';
import type { Device } from '../device.ts';
import { part, type Real, type RealDtype, type Values } from '../dtype.ts';
import { LowerFactor } from '../factor/lower-factor.ts';
import { requireSymmetric } from '../reference/symmetry.ts';
import { runToEnd } from '../work.ts';
import { withWayOut } from './from-covariance.ts';
import { meanInput, squareInput, symmetryTolerance } from './inputs.ts';
import { inUnitsIfMinute, leastPlain, multiplyRows } from './minute.ts';
import type { NormalParameters } from './parameters.ts';
import { isRounding, requireHeld, requireRepresented } from './represented.ts';

/** What errors call the parts of a batch: a Student-t has locations and scales. */
export interface BatchWords {
  /** One distribution: `Normal`. */
  readonly one: string;
  readonly centre: string;
  readonly centres: string;
  readonly square: string;
  readonly squares: string;
}

export const normalWords: BatchWords = {
  one: 'Normal',
  centre: 'Mean',
  centres: 'Means',
  square: 'Covariance',
  squares: 'Covariances',
};

/** Of means and covariances that are estimated: they are not arguments. */
export const estimatedWords: BatchWords = { ...normalWords, centres: normalWords.centre, squares: normalWords.square };

/** Size, dimension and type of a batch, and its device. */
export interface BatchShape<D extends RealDtype = RealDtype> {
  readonly device: Device;
  readonly dtype: D;
  /** B, from 1. */
  readonly size: number;
  readonly n: number;
}

/** The checked inputs of a batch. */
export interface BatchInput extends BatchShape {
  /** B x n; undefined means zeros. */
  readonly centres: Real | undefined;
  /** Each n x n. */
  readonly squares: readonly Real[] | { readonly block: Real; readonly arePlain: boolean };
}

/** B normals in two blocks of the device's memory: means (B x n) and lower Cholesky factors (B x n x n). */
export interface BatchParameters<D extends RealDtype = RealDtype> extends BatchShape<D> {
  readonly means: Storage;
  readonly factors: Storage;
}

interface Given {
  readonly device: Device;
  readonly dtype?: RealDtype | undefined;
  readonly centres: MatrixInput | undefined;
  readonly squares: readonly MatrixInput[] | Volume;
  /** What the type follows from if `dtype` is missing; by default the matrices and the centres. */
  readonly inputs?: readonly unknown[];
}

/** Throws `ERR_INVALID_ARGUMENT`, `ERR_SHAPE`, `ERR_NOT_FINITE`, `ERR_OUT_OF_RANGE`, with the index in a batch. */
export function batchInput(given: Given, words: BatchWords): BatchInput {
  const { squares } = given;
  const device = requireDevice(given.device);
  const isVolume = squares instanceof Volume;
  if (!isVolume && !Array.isArray(squares))
    throw wrongArgument(words.squares, squares, 'an array of matrices, or a Volume');
  const inputs = given.inputs ?? [given.centres, ...(isVolume ? [squares] : squares)];
  const dtype = realDtypeOf(device, given.dtype, inputs);
  const shape = isVolume ? ofVolume(squares, device, dtype, words) : ofEach(squares, device, dtype, words);
  const centres =
    given.centres === undefined ? undefined : centresOf(given.centres, { ...shape, device, dtype }, words);
  const input = { ...shape, device, dtype, centres };
  const chosen = { asked: given.dtype, chosen: dtype, inputs };
  if (centres === undefined || !isRounding(chosen)) return input;
  for (let b = 0; b < shape.size; b++)
    naming(words, b, () => {
      const square = squareOf(input, b);
      requireRepresented(chosen, part(centres, b, shape.n), (i) => square[i * (shape.n + 1)]!, words.centre);
    });
  return input;
}

/** The matrix of one distribution. */
export function squareOf({ squares, n }: Pick<BatchInput, 'squares' | 'n'>, b: number): Real {
  return 'block' in squares ? part(squares.block, b, n * n) : squares[b]!;
}

type Squares = Pick<BatchInput, 'size' | 'n' | 'squares'>;

function ofVolume(volume: Volume, device: Device, dtype: RealDtype, words: BatchWords): Squares {
  const { width: n, height, depth: size } = volume;
  if (n !== height)
    throw new CovariumError(
      'ERR_SHAPE',
      `${marked(words.squares)} is a volume of (${volume.size.join(' x ')}) numbers: its width and height differ.`,
    );
  const given = named(words.squares, () => volumeStorage(volume).valuesFor(device));
  return ofBlock(given, { device, dtype, size, n }, words);
}

// Matrices that lie one after the other.
function ofBlock(given: Values, { dtype, size, n }: BatchShape, words: BatchWords): Squares {
  const block = hostValues(given, dtype) as Real;
  const arePlain = areDiagonalsPlain(block, n, dtype);
  // requireHeld says what is wrong with the first whose diagonal is not held.
  if (!arePlain)
    for (let b = 0; b < size; b++)
      naming(words, b, () => requireHeld(words.square, part(given as Real, b, n * n), part(block, b, n * n), n, n + 1));
  return { size, n, squares: { block, arePlain } };
}

function ofEach(given: readonly MatrixInput[], device: Device, dtype: RealDtype, words: BatchWords): Squares {
  if (given.length === 0)
    throw new CovariumError('ERR_SHAPE', `${marked(words.squares)} has (0) matrices, not at least one.`);
  const plain = plainBlock(given);
  if (plain !== undefined) return ofBlock(plain.data, { device, dtype, size: given.length, n: plain.columns }, words);
  let n: number | undefined;
  const squares = given.map((input, b) =>
    naming(words, b, () => {
      const square = squareInput(words.square, device, input, dtype);
      requireColumns(words.square, square.n, n ?? square.n, 'first one');
      n = square.n;
      return square.values;
    }),
  );
  return { size: given.length, n: n!, squares };
}

// All rows of plain matrices of one size, read at once: thousands of small typed arrays take longer than their numbers.
// Undefined if they are anything else, or wrong; then each is read alone, and refused by its index.
function plainBlock(given: readonly MatrixInput[]): Matrix | undefined {
  const n = Array.isArray(given[0]) ? given[0].length : 0;
  const isPlain = (square: MatrixInput) => Array.isArray(square) && square.length === n && Array.isArray(square[0]);
  if (n === 0 || !given.every(isPlain)) return undefined;
  try {
    return Matrix.from((given as number[][][]).flat(), { dtype: 'float64', rows: given.length * n, columns: n });
  } catch (error) {
    if (error instanceof CovariumError) return undefined;
    throw error;
  }
}

function centresOf(given: MatrixInput, { device, dtype, size, n }: BatchShape, words: BatchWords): Real {
  const name = words.centres;
  const { values, count } = rowsInput(name, device, given, n);
  if (count !== size)
    throw new CovariumError(
      'ERR_SHAPE',
      `${marked(name)} has (${count}) rows, but the batch has (${size}) distributions.`,
    );
  const held = hostValues(values, dtype) as Real;
  // meanInput says what is wrong with the first that is not finite.
  if (!isAllFinite(held))
    for (let b = 0; b < size; b++)
      naming(words, b, () => meanInput(device, part(values as Real, b, n), dtype, n, words.centre));
  return held;
}

/** Whether no diagonal entry of these n x n matrices is minute, 0, infinite or a NaN. */
function areDiagonalsPlain(block: Real, n: number, dtype: RealDtype): boolean {
  const least = leastPlain(dtype);
  for (let start = 0; start < block.length; start += n * n)
    for (let i = 0; i < n; i++) {
      const size = Math.abs(block[start + i * (n + 1)]!);
      if (!(size >= least && size < Number.POSITIVE_INFINITY)) return false;
    }
  return true;
}

function isAllFinite(values: Real): boolean {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]! * 0; // NaN for a number that is not finite
  return sum === 0;
}

/** Makes the factors of all in one command. `way` adds to an error how to accept a singular matrix. */
export function factorBatch(
  input: BatchInput,
  tolerance: number | undefined,
  words: BatchWords,
  way: boolean,
): Task<BatchParameters> {
  const { device, dtype, size, n, centres, squares } = input;
  const within = symmetryTolerance(dtype, tolerance);
  const [means, factors] = Storage.allOnDevice(device, dtype, [size * n, size * n * n]) as [Storage, Storage];
  if (centres === undefined) means.values.fill(0);
  else means.values.set(centres);
  const a = factors.values as Real;
  if ('block' in squares) a.set(squares.block);
  else for (const [b, square] of squares.entries()) a.set(square, b * n * n);
  const minute = new Map<number, Real>();
  const checked = 'block' in squares && squares.arePlain ? 0 : size;
  for (let b = 0; b < checked; b++) {
    const inUnits = inUnitsIfMinute(part(a, b, n * n), n);
    if (inUnits === undefined) continue;
    // Here, because an error of the device would show the entries in their units.
    naming(words, b, () => named(words.square, () => runToEnd(requireSymmetric(inUnits.given, n, within))));
    a.set(inUnits.square, b * n * n);
    minute.set(b, inUnits.units);
  }
  return taskOf({
    device,
    encode: (encoder, scratch) => {
      encoder.choleskyBatch(a, n, within);
      for (const [b, units] of minute) multiplyRows(encoder, part(a, b, n * n), units, scratch);
    },
    result: { device, dtype, size, n, means, factors },
    written: factors,
    fresh: [means, factors],
    after: () => {
      means.settle();
      factors.settle();
    },
    explain: (error) => {
      const { matrix } = error;
      if (matrix === undefined) return error;
      return ofDistribution(words, matrix, about(words.square, way ? withWayOut(error) : error));
    },
  });
}

/** The parameters of one normal of a batch: views, which end with the batch. */
export function parametersAt<D extends RealDtype>(
  { device, dtype, n, means, factors }: BatchParameters<D>,
  b: number,
): NormalParameters<D> {
  const view = (storage: Storage, length: number) => {
    const values = part(storage.values as Real, b, length) as Values;
    const made = new Storage(values, undefined, device);
    made.timings = factors.timings;
    return made;
  };
  return { device, dtype, n, mean: view(means, n), factor: new LowerFactor(view(factors, n * n), n) };
}

/** Logarithms of the determinants of the covariances. */
export function logDeterminants({ size, n, factors }: BatchParameters): Float64Array {
  const lower = factors.values as Real;
  const logarithms = new Float64Array(size);
  for (let b = 0; b < size; b++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += Math.log(lower[b * n * n + i * (n + 1)]!);
    logarithms[b] = 2 * sum;
  }
  return logarithms;
}

/** The constants of the log densities; see {@link normalConstant}. */
export function batchConstants({ n }: { readonly n: number }, logarithms: Float64Array): Float64Array {
  return logarithms.map((logDeterminant) => -(n * Math.log(2 * Math.PI) + logDeterminant) / 2);
}

/** Runs `work` for one distribution of a batch; an error gets its index. */
export function naming<Result>(words: BatchWords, index: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof CovariumError ? ofDistribution(words, index, error) : error;
  }
}

/** An error with the index of the distribution that it is about. */
export function ofDistribution(words: BatchWords, index: number, error: CovariumError): CovariumError {
  const { one, centre, centres, square, squares } = words;
  const { name, code, message: text, stack, ...fields } = error;
  // The argument of one is an element of that of all.
  let message = text;
  for (const [own, all] of [
    [centre, centres],
    [square, squares],
  ].map((each) => each.map(argumentOf)))
    if (own !== all && new RegExp(`^\`${own}[\`[]`).test(text))
      message = `\`${all}[${index}]${text.slice(own!.length + 1)}`;
  return new CovariumError(code, `${one} (${index}) of the batch: ${message}`, {
    ...fields,
    matrix: index,
    cause: error,
  });
}
