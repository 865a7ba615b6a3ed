import { randomBytes } from 'node:crypto';

/** 64 random bits from the system, for a run whose seed is omitted. */
export function randomSeed(): bigint {
  return randomBytes(8).readBigUInt64LE();
}
