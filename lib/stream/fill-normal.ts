import type { Real } from '../dtype.ts';
import type { Work } from '../work.ts';
import { mapToNormals } from './normal.ts';
import { mapToNormalsFloat64 } from './normal-float64.ts';
import { blocksAtOnce, philox } from './philox.ts';

const words = new Int32Array(4 * blocksAtOnce);
const normals = new Float32Array(4 * blocksAtOnce);
const normalsFloat64 = new Float64Array(2 * blocksAtOnce);
const pieceLength = 1 << 14;

/**
 * The normal stream, version 1: out[i] = element first + i of the stream that `counter` names (six words, see Encoder).
 */
export function* fillNormal(out: Real, counter: Uint32Array): Work {
  for (let begin = 0; begin < out.length; begin += pieceLength) {
    fillNormalRange(out, begin, Math.min(begin + pieceLength, out.length), counter);
    yield;
  }
}

/** {@link fillNormal} for the indices [begin, end) of `out` only. */
export function fillNormalRange(out: Real, begin: number, end: number, counter: Uint32Array): void {
  const float32 = out.BYTES_PER_ELEMENT === 4;
  const normalsInBlock = float32 ? 4 : 2;
  const most = normalsInBlock * blocksAtOnce;
  for (let at = begin; at < end; ) {
    // Indices have 64 bits and wrap around; this sum is exact, because `at` is below 2^52.
    const indexLow = counter[4]! + at;
    const indexHigh = (counter[5]! + Math.floor(indexLow / 2 ** 32)) >>> 0;
    const skip = indexLow % normalsInBlock;
    const count = Math.min(most - skip, end - at);
    const blocks = Math.ceil((skip + count) / normalsInBlock);
    makeWords(indexLow >>> 0, indexHigh, normalsInBlock, blocks, counter);
    if (float32) {
      mapToNormals(words, blocks, normals);
      out.set(normals.subarray(skip, skip + count), at);
    } else {
      mapToNormalsFloat64(words, blocks, normalsFloat64);
      out.set(normalsFloat64.subarray(skip, skip + count), at);
    }
    at += count;
  }
}

function makeWords(
  indexLow: number,
  indexHigh: number,
  normalsInBlock: 4 | 2,
  blocks: number,
  stream: Uint32Array,
): void {
  const shift = normalsInBlock === 4 ? 2 : 1;
  const low = (indexLow >>> shift) | (indexHigh << (32 - shift));
  const high = indexHigh >>> shift;
  const [seedLow = 0, seedHigh = 0, streamLow = 0, streamHigh = 0] = stream;
  for (let i = 0; i < blocks; i++) {
    const blockLow = (low + i) | 0;
    const carry = (low >>> 0) + i >= 2 ** 32 ? 1 : 0;
    const blockHigh = (high + carry) & (0xffffffff >>> shift);
    philox(blockLow, blockHigh, streamLow, streamHigh, seedLow, seedHigh, words, 4 * i);
  }
}
