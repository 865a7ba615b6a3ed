import type { CompiledKernel } from '../backend.ts';
import { marked, wholeNumber, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';

/** Threads along x, y and z; omitted ones are 1, and a number is a grid of one row. */
export type GridSize = number | readonly number[];

/** Three positive whole numbers of threads. Throws `ERR_OUT_OF_RANGE`, `ERR_INVALID_ARGUMENT`. */
export function threadsOf(name: string, size: GridSize): [number, number, number] {
  const given = typeof size === 'number' ? [size] : size;
  if (!Array.isArray(given) || given.length < 1 || given.length > 3)
    throw wrongArgument(name, size, 'a whole number, or an array of 1 to 3');
  const [x, y = 1, z = 1] = Array.from(given, (each, axis) =>
    wholeNumber(typeof size === 'number' ? name : `\`${name}[${axis}]\``, each, 1, 2 ** 32 - 1),
  );
  if (x! * y * z > Number.MAX_SAFE_INTEGER)
    throw new CovariumError(
      'ERR_OUT_OF_RANGE',
      `${marked(name)} of (${given.join(', ')}) has (${x! * y * z}) threads; the limit is (${Number.MAX_SAFE_INTEGER}).`,
    );
  return [x!, y, z];
}

/**
 * The default threadgroup of a grid, as Apple recommends: as many rows of the execution width as the kernel's limit
 * allows; for a grid along one axis, one row of all threads. Never larger than the grid.
 */
export function threadgroupFor(
  kernel: CompiledKernel,
  grid: readonly [number, number, number],
): [number, number, number] {
  const { threadExecutionWidth: width, maxTotalThreadsPerThreadgroup: most } = kernel;
  if (grid[1] === 1 && grid[2] === 1) return [Math.min(grid[0], Math.max(width, most - (most % width))), 1, 1];
  const x = Math.min(grid[0], width);
  const y = Math.min(grid[1], Math.max(1, Math.floor(most / x)));
  return [x, y, Math.min(grid[2], Math.max(1, Math.floor(most / (x * y))))];
}
