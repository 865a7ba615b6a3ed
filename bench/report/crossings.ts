import { type Crossover, crossovers } from '../crossover.ts';
import type { Results } from '../results.ts';
import { speedy } from './appearance.ts';

/** Crossovers of contenders that measure speed, one of them at least a device of ours. */
export function fairCrossovers(results: Results): Crossover[] {
  const fair = speedy(results);
  const devices = new Set(results.contenders.filter(({ kind }) => kind === 'device').map(({ name }) => name));
  return crossovers(results).filter(
    ({ slower, faster }) => fair.has(slower) && fair.has(faster) && (devices.has(slower) || devices.has(faster)),
  );
}
