import type { Measurement, Results } from '../results.ts';
import { group } from './group.ts';
import { numberText } from './quantity.ts';

/** What one picture shows: a case over its sizes. */
export interface Panel {
  readonly suite: string;
  readonly case: string;
  readonly dtype: Measurement['dtype'];
  /** The count of all measurements; null where there is none, or where the count is what grows. */
  readonly count: number | null;
  /** What grows: the dimension, or the count where the case has no dimension. */
  readonly axis: 'dimension' | 'count';
  readonly measurements: readonly Measurement[];
}

/** The panels of a run, in the order in which their cases first come. */
export function panels(results: Results): Panel[] {
  const groups = group(results.measurements, (each) =>
    JSON.stringify([each.suite, each.case, each.dtype, each.dimension === null ? null : each.count]),
  );
  return groups.map((measurements) => {
    const { suite, case: name, dtype, dimension, count } = measurements[0]!;
    const axis = dimension === null ? 'count' : 'dimension';
    return { suite, case: name, dtype, count: axis === 'dimension' ? count : null, axis, measurements };
  });
}

/** True if a suite has so many small cases that a table shows them better than pictures. */
export function isListed(suite: string): boolean {
  return suite === 'functions' || suite === 'calls' || suite === 'subnormal';
}

/** The sizes of a panel, smallest first; measurements without a size are left out. */
export function sizesOf(panel: Panel): number[] {
  const sizes = panel.measurements.map((each) => each[panel.axis]).filter((size) => size !== null);
  return [...new Set(sizes)].sort((a, b) => a - b);
}

/** The case, its dtype and its count in words. */
export function caseTitle({ case: name, dtype, count }: Pick<Panel, 'case' | 'dtype' | 'count'>): string {
  return [name, ...(dtype === null ? [] : [dtype]), ...(count === null ? [] : [`count ${numberText(count)}`])].join(
    ', ',
  );
}

/** The suite's name before {@link caseTitle}. */
export function panelTitle(panel: Pick<Panel, 'suite' | 'case' | 'dtype' | 'count'>): string {
  return `${panel.suite}: ${caseTitle(panel)}`;
}
