import type { FactorOn } from './backend.ts';
import { CovariumError } from './covarium-error.ts';
import { describe } from './describe.ts';

const places: readonly FactorOn[] = ['auto', 'cpu', 'gpu'];

/** Where a factor is to be made: the option `factor`, `auto` where it is omitted. Throws `ERR_INVALID_ARGUMENT`. */
export function factorOn(factor: FactorOn | undefined): FactorOn {
  if (factor === undefined) return 'auto';
  if (places.includes(factor)) return factor;
  throw new CovariumError('ERR_INVALID_ARGUMENT', `Factor (${describe(factor)}) is not one of (${places.join(', ')}).`);
}
