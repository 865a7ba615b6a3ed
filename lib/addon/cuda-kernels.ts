import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CovariumError, isError } from '../covarium-error.ts';
import { packageFolder } from './file.ts';

const name = 'cuda-kernels.bin';

/**
 * The text of the kernels of the `cuda` device, which the addon asks for once it has found a GPU. build.mjs makes the
 * file. Throws `ERR_DEVICE_UNAVAILABLE`.
 */
export function cudaKernels(): Uint8Array {
  return process.getBuiltinModule('node:zlib').brotliDecompressSync(compressed());
}

/** {@link cudaKernels}, decompressed on another thread. */
export async function cudaKernelsAsync(): Promise<Uint8Array> {
  const { promisify } = process.getBuiltinModule('node:util');
  return promisify(process.getBuiltinModule('node:zlib').brotliDecompress)(compressed());
}

// Brotli has no checksum, so the file begins with one.
function compressed(): Uint8Array {
  const path = join(folder(), name);
  const bytes = read(path);
  const rest = bytes.subarray(4);
  if (rest.length === 0 || bytes.readUInt32LE() !== process.getBuiltinModule('node:zlib').crc32(rest))
    throw unavailable(`Its kernels (${path}) are damaged.`);
  return rest;
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unavailable(`Its kernels cannot be read (${isError(error) ? error.message : error}).`);
  }
}

// A bundle that left the package behind has a copy of the file beside that of the addon.
function folder(): string {
  try {
    return join(packageFolder(), 'dist');
  } catch {
    const { COVARIUM_ADDON = '' } = process.env;
    return dirname(COVARIUM_ADDON);
  }
}

function unavailable(why: string): CovariumError {
  const advice = 'Install covarium again, or, in a clone, install clang and run `npm run build`.';
  return new CovariumError('ERR_DEVICE_UNAVAILABLE', `${why} ${advice}`);
}
