import { Storage } from '../array/storage.ts';
import type { Encoder } from '../backend.ts';
import { backendOf, OpenBackend, requireDevice } from '../backend-handle.ts';
import { openReference } from '../reference/device.ts';
import type { Scratch } from './scratch.ts';
import type { Tasks } from './task.ts';

let reference: OpenBackend | undefined;

/**
 * Where numbers are computed in float64: on `device`, or on the reference device where there is none or it has no
 * float64 (an Apple GPU). Throws `ERR_INVALID_ARGUMENT`, `ERR_CLOSED`.
 */
export function exactDevice(device: OpenBackend | undefined): OpenBackend {
  if (device !== undefined && requireDevice(device).dtypes.includes('float64')) return device;
  return referenceDevice();
}

// Nothing of it needs closing.
function referenceDevice(): OpenBackend {
  reference ??= new OpenBackend(openReference());
  return reference;
}

/** {@link exactDevice}, or the reference device where that one's LAPACK lacks decompositions. */
export function decomposingDevice(device: OpenBackend | undefined): OpenBackend {
  return decompositionsOf(exactDevice(device));
}

/** `device`, or the reference device where its LAPACK lacks decompositions. */
export function decompositionsOf(device: OpenBackend): OpenBackend {
  return backendOf(device).lacksDecompositions === '' ? device : referenceDevice();
}

/** Records commands on float64 numbers in ordinary memory, and runs them as one commit. */
export function exactly(device: OpenBackend, encode: (encoder: Encoder, scratch: Scratch) => void): Tasks<void> {
  return oneCommit(exactDevice(device), encode);
}

/** The same of commands with a decomposition among them. */
export function decomposed(
  device: OpenBackend | undefined,
  encode: (encoder: Encoder, scratch: Scratch) => void,
): Tasks<void> {
  return oneCommit(decomposingDevice(device), encode);
}

function* oneCommit(device: OpenBackend, encode: (encoder: Encoder, scratch: Scratch) => void): Tasks<void> {
  yield {
    device,
    encode,
    reachable: [],
    result: undefined,
    written: new Storage(new Float64Array(0)),
    fresh: [],
  };
}
