import { describe, wholeNumber } from '../lib/check.ts';
import { CovariumError } from '../lib/covarium-error.ts';
import type { RealDtype } from '../lib/dtype.ts';
import { wholeArgument } from '../lib/typed-number.ts';
import { deviceNames } from './devices.ts';
import type { RunOptions } from './results.ts';
import { suites } from './suites.ts';

/** Options of `covarium bench`, as typed. */
export interface BenchmarkArguments {
  readonly dimensions?: string;
  readonly counts?: string;
  readonly dtypes?: string;
  readonly devices?: string;
  readonly peers?: boolean;
  readonly quick?: boolean;
  readonly rounds?: string;
  readonly time?: string;
}

interface BenchmarkOptions extends RunOptions {
  /** Undefined: all devices that measure speed. */
  readonly devices: readonly string[] | undefined;
  readonly peers: boolean;
}

const realDtypes: readonly RealDtype[] = ['float32', 'float64'];

const full = { dimensions: [64, 256, 1000, 2048], counts: [1, 100, 10_000], rounds: 5, time: 350 };
// A comparison of two runs needs at least five rounds to decide anything.
const brief = { dimensions: [16, 128, 512], counts: [100], rounds: 5, time: 45 };

/** Throws `ERR_INVALID_ARGUMENT` for an unknown suite or device and an empty list, `ERR_OUT_OF_RANGE` for a number. */
export function benchmarkOptions(names: readonly string[], typed: BenchmarkArguments): BenchmarkOptions {
  const quick = typed.quick === true;
  const usual = quick ? brief : full;
  const known = suites.map(({ name }) => name);
  for (const name of names) requireKnown('Suite', name, known);
  return {
    suites: suites
      .filter(({ name, isOnRequest }) => (names.length === 0 ? !isOnRequest : names.includes(name)))
      .map(({ name }) => name),
    dimensions: typed.dimensions === undefined ? usual.dimensions : sizes('--dimensions', typed.dimensions, 1 << 15),
    counts: typed.counts === undefined ? usual.counts : sizes('--counts', typed.counts, 1e9),
    dtypes: typed.dtypes === undefined ? realDtypes : (namesOf('Type', typed.dtypes, realDtypes) as RealDtype[]),
    devices: typed.devices === undefined ? undefined : namesOf('Device', typed.devices, deviceNames),
    peers: typed.peers !== false,
    quick,
    // A single round does not show the machine's drift, and may have fewer than the two runs that a margin needs.
    rounds: numberOf('--rounds', typed.rounds, usual.rounds, 2, 1000),
    millisecondsPerCase: numberOf('--time', typed.time, usual.time, 1, 3_600_000),
  };
}

function numberOf(name: string, text: string | undefined, usual: number, minimum: number, maximum: number): number {
  return text === undefined ? usual : wholeNumber(name, wholeArgument(name, text), minimum, maximum);
}

function sizes(name: string, text: string, maximum: number): number[] {
  const numbers = text.split(',').map((each) => wholeNumber(name, wholeArgument(name, each.trim()), 1, maximum));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function namesOf(what: string, text: string, known: readonly string[]): string[] {
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) requireKnown(what, name, known);
  return [...new Set(names)];
}

function requireKnown(what: string, name: string, known: readonly string[]): void {
  if (!known.includes(name))
    throw new CovariumError('ERR_INVALID_ARGUMENT', `${what} (${describe(name)}) is not one of (${known.join(', ')}).`);
}
