import { loadAddon } from '../addon/native.ts';
import { Storage } from '../array/storage.ts';
import type { Encoder } from '../backend.ts';
import { backendOf, OpenBackend, requireDevice } from '../backend-handle.ts';
import { about } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { openReference } from '../reference/device.ts';
import type { Scratch } from './scratch.ts';
import { type Tasks, taskOf } from './task.ts';

let reference: OpenBackend | undefined;
let host: OpenBackend | undefined;

/**
 * The device that computes in float64: `device`, or for an Apple GPU, which does not support it, the CPU beside it. The
 * reference device if `device` is missing, or that CPU's. Throws `ERR_INVALID_ARGUMENT`, `ERR_CLOSED`.
 */
export function exactDevice(device: OpenBackend | undefined): OpenBackend {
  if (device === undefined) return referenceDevice();
  const { dtypes, threads } = requireDevice(device);
  return dtypes.includes('float64') ? device : hostDevice(threads);
}

// Never closed: it ends with the process.
function hostDevice(threads: number): OpenBackend {
  try {
    host ??= new OpenBackend(loadAddon().addon!.openDevice('cpu', { threads, gpu: '' }));
    return host;
  } catch {
    return referenceDevice();
  }
}

// It holds nothing that must be closed.
function referenceDevice(): OpenBackend {
  reference ??= new OpenBackend(openReference());
  return reference;
}

/** Like {@link exactDevice}, but the reference device also if `device` has no library for the decompositions. */
export function decomposingDevice(device: OpenBackend | undefined): OpenBackend {
  return decompositionsOf(exactDevice(device));
}

/** `device`, or the reference device if `device` has no library for the decompositions. */
export function decompositionsOf(device: OpenBackend): OpenBackend {
  return backendOf(device).lacksDecompositions === '' ? device : referenceDevice();
}

/**
 * Runs commands that need eigenvalues of `device`, and no other decomposition. Where it has no library for them, which
 * a GPU may say only when they run, they run on the reference device.
 */
export function* withEigenvalues<Result>(
  device: OpenBackend,
  commands: (device: OpenBackend) => Tasks<Result>,
): Tasks<Result> {
  const decomposing = decompositionsOf(device);
  if (decomposing === device || !backendOf(device).triesEigenvalues) return yield* commands(decomposing);
  try {
    return yield* commands(device);
  } catch (error) {
    if (!(error instanceof CovariumError) || error.code !== 'ERR_UNSUPPORTED') throw error;
    return yield* commands(decomposing);
  }
}

/**
 * Records commands on float64 numbers in ordinary memory, and runs them as one commit. `words` name the argument whose
 * numbers they refuse.
 */
export function exactly(
  device: OpenBackend | undefined,
  encode: (encoder: Encoder, scratch: Scratch) => void,
  words?: string,
): Tasks<void> {
  return oneCommit(exactDevice(device), encode, words);
}

/** Like {@link exactly}, for commands that include a decomposition. */
export function decomposed(
  device: OpenBackend | undefined,
  encode: (encoder: Encoder, scratch: Scratch) => void,
): Tasks<void> {
  return oneCommit(decomposingDevice(device), encode);
}

/** Like {@link exactly}: replaces the n x n matrix by its eigenvectors, as {@link Encoder.symmetricEigen} does. */
export function symmetricEigen(
  device: OpenBackend | undefined,
  matrix: Float64Array,
  values: Float64Array,
  n: number,
): Tasks<void> {
  const commands = (runsOn: OpenBackend) =>
    oneCommit(runsOn, (encoder) => encoder.symmetricEigen(matrix, values, n, true));
  return withEigenvalues(exactDevice(device), commands);
}

// What commands that write to the memory of their caller have written.
const nothing = new Storage(new Float64Array(0));

function* oneCommit(
  device: OpenBackend,
  encode: (encoder: Encoder, scratch: Scratch) => void,
  words?: string,
): Tasks<void> {
  yield taskOf({
    device,
    encode,
    result: undefined,
    written: nothing,
    explain: words === undefined ? undefined : (error) => about(words, error),
  });
}
