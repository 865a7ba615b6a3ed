// The answer of a run: how many times as fast our fastest device is as its fastest rival, and from which size on it
// leads.
import { type Interval, ratioInterval } from '../ratio-interval.ts';
import type { Results } from '../results.ts';
import { speedy } from './appearance.ts';
import { type Panel, panels, sizesOf } from './panel.ts';
import { isTimed, type Timed } from './timed.ts';

/** The leader against another contender in the same case at the same size. */
export interface Versus {
  readonly other: Timed;
  /** How many times as fast the leader is: the other's median time divided by the leader's. */
  readonly ratio: number;
  /** Undefined where the rounds are too few. */
  readonly interval: Interval | undefined;
}

export interface Answer {
  readonly panel: Panel;
  /** The largest size at which a device and a rival were timed; null where the case has no sizes. */
  readonly size: number | null;
  /** Our fastest device at that size. */
  readonly leader: Timed;
  /** The leader's fastest rival at that size. */
  readonly rival: Versus;
  /** Whether rivals are peers; where no peer was timed they are our other devices. */
  readonly againstPeers: boolean;
  /** The sizes at which the leader and a rival were timed, smallest first. */
  readonly sizes: readonly (number | null)[];
  /** The sizes, counted from the largest, at which the leader is faster than every rival, smallest first. */
  readonly ahead: readonly (number | null)[];
}

/** An answer for each panel in which two contenders that measure speed share a size. */
export function answers(results: Results): Answer[] {
  return panels(results).flatMap((panel) => answerOf(results, panel) ?? []);
}

/** Undefined where the panel compares nothing. */
export function answerOf(results: Results, panel: Panel): Answer | undefined {
  const timed = fairlyTimed(results, panel);
  const isPeer = kindOf(results, 'peer');
  const devices = timed.filter(({ contender }) => !isPeer(contender));
  // A run with only peers is compared too.
  const leaders = devices.length > 0 ? devices : timed;
  const at = (list: readonly Timed[], size: number | null) =>
    list.filter((each) => each[panel.axis] === size).sort((a, b) => a.time.median - b.time.median);
  const sizes = sizesOf({ ...panel, measurements: timed });
  const candidates = sizes.length === 0 ? [null] : sizes;
  const peersShare = candidates.some(
    (size) => at(leaders, size).length > 0 && at(timed, size).some(({ contender }) => isPeer(contender)),
  );
  const againstPeers = devices.length > 0 && peersShare;
  const rivalsOf = (leader: string) => (each: Timed) =>
    each.contender !== leader && (!againstPeers || isPeer(each.contender));
  for (const size of candidates.toReversed()) {
    const [leader] = at(leaders, size);
    if (leader === undefined) continue;
    const isRival = rivalsOf(leader.contender);
    const [fastest] = at(timed, size).filter(isRival);
    if (fastest === undefined) continue;
    const shared = candidates.filter(
      (each) =>
        at(timed, each).some(({ contender }) => contender === leader.contender) && at(timed, each).some(isRival),
    );
    const leads = (each: number | null) => {
      const own = at(timed, each).find(({ contender }) => contender === leader.contender)!;
      return at(timed, each)
        .filter(isRival)
        .every((rival) => verdictOf(versus(own, rival)) === 'faster');
    };
    const lost = shared.findLastIndex((each) => !leads(each));
    const rival = versus(leader, fastest);
    return { panel, size, leader, rival, againstPeers, sizes: shared, ahead: shared.slice(lost + 1) };
  }
  return undefined;
}

/** What the panel's leader is compared with, at every size that both were timed at: in the order of the run. */
export function comparisons(results: Results, { panel, leader }: Answer): Versus[] {
  const timed = fairlyTimed(results, panel);
  const own = timed.filter(({ contender }) => contender === leader.contender);
  return timed.flatMap((other) => {
    const same = own.find((each) => each[panel.axis] === other[panel.axis]);
    return other.contender === leader.contender || same === undefined ? [] : [versus(same, other)];
  });
}

/** `level` where the interval holds 1; without an interval only the medians decide. */
export function verdictOf({ ratio, interval }: Versus): 'faster' | 'slower' | 'level' {
  const { low, high } = interval ?? { low: ratio, high: ratio };
  if (low > 1) return 'faster';
  return high < 1 ? 'slower' : 'level';
}

function versus(leader: Timed, other: Timed): Versus {
  return {
    other,
    ratio: other.time.median / leader.time.median,
    interval: ratioInterval(leader.time, other.time),
  };
}

function fairlyTimed(results: Results, panel: Panel): Timed[] {
  const fair = speedy(results);
  return panel.measurements.filter(isTimed).filter(({ contender }) => fair.has(contender));
}

function kindOf({ contenders }: Results, kind: 'device' | 'peer'): (name: string) => boolean {
  const names = new Set(contenders.filter((each) => each.kind === kind).map(({ name }) => name));
  return (name) => names.has(name);
}
