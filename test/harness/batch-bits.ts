import * as assert from 'uvu/assert';
import type { DeviceKind } from '../../lib/backend.ts';
import type { Real } from '../../lib/dtype.ts';
import { hasSameBytes } from './naive.ts';

/**
 * Asserts that a batch has computed what each model computes alone, bit for bit. On metal beyond 64 columns they may
 * differ by rounding, because there the CPU computes a batch, and the GPU computes one model in another order. So they
 * may wherever rates decide which of the two runs a command: a batch is more work than a model. `n`: the columns, if
 * the test knows them.
 */
export function hasBatchBits(
  kind: DeviceKind,
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  what: string,
  n: number = Number.POSITIVE_INFINITY,
): void {
  const { COVARIUM_CUDA_FROM: onCuda, COVARIUM_METAL_FROM: onMetal } = process.env;
  const takesAll = kind === 'cuda' ? onCuda === '0' : kind !== 'metal' || (onMetal === '0' && n <= 64);
  if (takesAll) {
    hasSameBytes(actual as Real, expected as Real, what);
    return;
  }
  assert.is(actual.length, expected.length, what);
  let size = 1e-30;
  for (let i = 0; i < expected.length; i++) size = Math.max(size, Math.abs(expected[i]!));
  for (let i = 0; i < actual.length; i++)
    if (actual[i] !== expected[i] && !(Math.abs(actual[i]! - expected[i]!) <= 1e-4 * size))
      assert.unreachable(`${what}: (${i}) is (${actual[i]}), not (${expected[i]})`);
}
