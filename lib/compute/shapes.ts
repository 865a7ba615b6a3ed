import { Matrix } from '../array/matrix.ts';
import { Storage } from '../array/storage.ts';
import { Vector } from '../array/vector.ts';
import { Volume } from '../array/volume.ts';
import type { OpenBackend } from '../backend-handle.ts';
import { wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { type Dtype, knownDtypeOf, type Values } from '../dtype.ts';
import type { ScalarName } from './descriptor.ts';

/** An array that an elementwise kernel takes as an argument. */
export type Shaped = Matrix | Vector | Volume | Values | readonly number[];

/** Width, height and depth; a vector is one row. */
export type Shape = readonly [width: number, height: number, depth: number];

/** The types of arrays, by the name of their elements' type. */
export const dtypeOfScalar: { readonly [N in ScalarName]: Dtype } = {
  f32: 'float32',
  f64: 'float64',
  i32: 'int32',
  u32: 'uint32',
  u8: 'uint8',
};

/** The shape of an argument; undefined for a number. Throws `ERR_INVALID_ARGUMENT`. */
export function shapeOf(name: string, value: unknown): Shape | undefined {
  if (typeof value === 'number') return undefined;
  if (value instanceof Matrix) return [value.columns, value.rows, 1];
  if (value instanceof Volume) return value.size;
  if (value instanceof Vector) return [value.length, 1, 1];
  if (Array.isArray(value)) {
    const at = value.findIndex((entry) => typeof entry !== 'number');
    if (at >= 0) throw wrongArgument(`\`${name}[${at}]\``, value[at], 'a number');
    return [value.length, 1, 1];
  }
  if (ArrayBuffer.isView(value) && knownDtypeOf(value) !== undefined) return [(value as Values).length, 1, 1];
  const arrays = `an array of numbers, a typed array of (${Object.values(dtypeOfScalar).join(', ')})`;
  throw wrongArgument(`\`${name}\``, value, `a number, ${arrays}, a Matrix, a Vector or a Volume`);
}

/**
 * The shape of all together: along each axis their sizes are the same, or 1, which is repeated. Throws `ERR_SHAPE`.
 */
export function commonShape(shapes: readonly (Shape | undefined)[]): Shape {
  const common: [number, number, number] = [1, 1, 1];
  const axes = ['columns', 'rows', 'layers'];
  shapes.forEach((shape, i) => {
    shape?.forEach((size, axis) => {
      if (size === 0) throw new CovariumError('ERR_SHAPE', `\`values[${i}]\` has (0) elements.`);
      if (size !== 1 && common[axis] !== 1 && size !== common[axis])
        throw new CovariumError(
          'ERR_SHAPE',
          `\`values[${i}]\` has (${size}) ${axes[axis]}, but those before it have (${common[axis]}); 1 would be repeated.`,
        );
      common[axis] = Math.max(common[axis]!, size);
    });
  });
  return common;
}

/** Whether two shapes are the same. */
export function isSameShape(a: Shape | undefined, b: Shape): boolean {
  return a?.every((size, axis) => size === b[axis]) === true;
}

/** How far apart two elements of an array are along each axis of a larger shape: 0 where it is repeated. */
export function strides(shape: Shape | undefined): readonly [x: number, y: number, z: number] {
  if (shape === undefined) return [0, 0, 0];
  const [width, height, depth] = shape;
  return [width === 1 ? 0 : 1, height === 1 ? 0 : width, depth === 1 ? 0 : width * height];
}

/** A new array for results: a Volume or a Matrix if an argument is one, else a Vector. */
export function resultOf(
  device: OpenBackend,
  dtype: Dtype,
  [width, height, depth]: Shape,
  values: readonly unknown[],
): Matrix | Vector | Volume {
  const storage = Storage.forResult(device, dtype, width * height * depth);
  if (values.some((value) => value instanceof Volume)) return new Volume(storage, [width, height, depth]);
  if (values.some((value) => value instanceof Matrix)) return new Matrix(storage, height, width);
  return new Vector(storage);
}

/**
 * An error of a kernel that is made here, about its argument (values0) or an element of it such as [1], as one about
 * what the caller passed, which `place` says.
 */
export function inCallersWords(error: unknown, place: (index: number, element: string) => string): unknown {
  if (!(error instanceof CovariumError)) return error;
  const message = error.message.replace(
    /\b(?:the )?argument \((?:out|values(\d+)((?:\[\d+\])?))\)/gi,
    (_, index: string | undefined, element = '') =>
      index === undefined ? '`out`' : `\`${place(Number(index), element)}\``,
  );
  return message === error.message ? error : new CovariumError(error.code, message, { cause: error });
}
