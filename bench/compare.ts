// Compares two or more runs of the benchmark, or two contenders of one run: ratios of medians, and whether they
// exceed the noise (bench/ratio-interval.ts). This file only computes; bench/comparison/ writes the result.
import { CovariumError } from '../lib/covarium-error.ts';
import { type MachineDifference, machineDifferences } from './machine-differences.ts';
import { type Interval, ratioInterval } from './ratio-interval.ts';
import type { Measurement, Results } from './results.ts';

/** The results of one file; `label` is its path as it was given. */
export interface Run {
  readonly label: string;
  readonly results: Results;
}

/** A run with the letter that stands for it in tables. */
interface LetteredRun extends Run {
  /** `A`, `B`, ... */
  readonly letter: string;
}

/** What is compared: a run, or a contender in it. */
export interface Side {
  /** The run's letter; or the contender's name, if one file is compared; or both. */
  readonly label: string;
  readonly run: Run;
  /** Undefined where each contender is compared with itself in the other runs. */
  readonly contender: string | undefined;
}

/** A case at a size, measured by one contender or by the contender of each side. */
export interface Key {
  readonly suite: string;
  readonly case: string;
  readonly dtype: Measurement['dtype'];
  readonly dimension: number | null;
  readonly count: number | null;
  readonly contender: string | null;
}

export type Verdict = 'faster' | 'slower' | 'within the noise' | 'undecided' | 'no measure of speed';

export interface Compared {
  readonly median: number;
  /** This side's median divided by the first side's: above 1 is slower. */
  readonly ratio: number;
  /** Null if the data do not decide it. */
  readonly interval: Interval | null;
  readonly verdict: Verdict;
}

export interface Row {
  readonly key: Key;
  /** The first side's median in nanoseconds. */
  readonly median: number;
  /** The other sides, in order; null for a side without a time. */
  readonly others: readonly (Compared | null)[];
}

/** A case in which one side was timed and another was not. */
export interface Missing {
  readonly key: Key;
  readonly side: string;
  readonly why: string;
}

export interface Comparison {
  readonly runs: readonly LetteredRun[];
  /** The others are compared with the first. */
  readonly sides: readonly Side[];
  readonly rows: readonly Row[];
  readonly missing: readonly Missing[];
  readonly differences: readonly MachineDifference[];
}

/**
 * Compares runs, by `contenders` where they are given. Throws `ERR_INVALID_ARGUMENT` where there is nothing to compare.
 */
export function compare(files: readonly Run[], contenders: readonly string[] = []): Comparison {
  const runs = files.map((run, i) => ({ ...run, letter: i < 26 ? String.fromCharCode(65 + i) : `${i + 1}` }));
  const sides = sidesOf(runs, contenders);
  const tables = sides.map(measurementsOf);
  const keys = new Map(tables.flatMap((table) => [...table].map(([id, { key }]) => [id, key])));
  const rows: Row[] = [];
  const missing: Missing[] = [];
  for (const [id, key] of keys) {
    const found = tables.map((table) => table.get(id)?.measurement);
    if (!found.some((each) => each?.time)) continue;
    for (const [i, each] of found.entries())
      if (!each?.time) missing.push({ key, side: sides[i]!.label, why: whyMissing(sides[i]!, key, each) });
    const [base, ...others] = found.map((each, i) => each && { each, isSpeed: measuresSpeed(sides[i]!, each) });
    if (!base?.each.time || !others.some((other) => other?.each.time)) continue;
    rows.push({ key, median: base.each.time.median, others: others.map((other) => compared(base, other)) });
  }
  return { runs, sides, rows, missing, differences: machineDifferences(runs.map(({ results }) => results)) };
}

/** The rows where a side is slower than the first, beyond the noise and by more than `ratio`. */
export function slowerThan(comparison: Comparison, ratio: number): readonly Row[] {
  return comparison.rows.filter(({ others }) =>
    others.some((other) => other?.verdict === 'slower' && other.ratio > ratio),
  );
}

function sidesOf(runs: readonly LetteredRun[], contenders: readonly string[]): Side[] {
  const twice = contenders.find((name, i) => contenders.indexOf(name) !== i);
  if (twice !== undefined) throw new CovariumError('ERR_INVALID_ARGUMENT', `Contender (${twice}) is named twice.`);
  const sides = runs.flatMap((run): Side[] => {
    const { letter } = run;
    const there = run.results.contenders.map(({ name }) => name);
    const unknown = contenders.find((name) => !there.includes(name));
    if (unknown !== undefined)
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Contender (${unknown}) is not in (${run.label}), which has (${there.join(', ')}).`,
      );
    if (contenders.length === 0) return [{ label: letter, run, contender: undefined }];
    return contenders.map((name) => ({ label: runs.length === 1 ? name : `${letter} ${name}`, run, contender: name }));
  });
  if (sides.length < 2)
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `Files (${runs.length}) and contenders (${contenders.length}) are too few to compare: two of either are needed.`,
    );
  return sides;
}

/** The measurements of a side, by the text of their key, which is the same on every side. */
function measurementsOf({ run, contender }: Side): Map<string, { key: Key; measurement: Measurement }> {
  const all = run.results.measurements.filter((each) => contender === undefined || each.contender === contender);
  return new Map(
    all.map((measurement) => {
      const { suite, case: name, dtype, dimension, count } = measurement;
      const key = {
        suite,
        case: name,
        dtype,
        dimension,
        count,
        contender: contender === undefined ? measurement.contender : null,
      };
      return [JSON.stringify(Object.values(key)), { key, measurement }];
    }),
  );
}

function whyMissing({ run, contender }: Side, key: Key, found: Measurement | undefined): string {
  if (found !== undefined) return `${found.state}: ${found.reason}`;
  const name = contender ?? key.contender;
  const absent = run.results.contenders.find((each) => each.name === name && !each.available);
  return absent ? `not available: ${absent.reason}` : 'not in it';
}

function measuresSpeed({ run }: Side, { contender }: Measurement): boolean {
  return run.results.contenders.some(({ name, measuresSpeed }) => name === contender && measuresSpeed);
}

interface Found {
  readonly each: Measurement;
  readonly isSpeed: boolean;
}

function compared(base: Found, other: Found | undefined): Compared | null {
  const [before, after] = [base.each.time!, other?.each.time];
  if (!after) return null;
  const interval = ratioInterval(before, after) ?? null;
  const isSpeed = base.isSpeed && other!.isSpeed;
  return { median: after.median, ratio: after.median / before.median, interval, verdict: verdictOf(interval, isSpeed) };
}

function verdictOf(interval: Interval | null, isSpeed: boolean): Verdict {
  if (!isSpeed) return 'no measure of speed';
  if (interval === null) return 'undecided';
  if (interval.low > 1) return 'slower';
  return interval.high < 1 ? 'faster' : 'within the noise';
}
