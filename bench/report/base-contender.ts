import type { Results } from '../results.ts';
import { isTimed, type Timed } from './timed.ts';

const sizeOf = ({ case: name, dimension, count }: Timed) => JSON.stringify([name, dimension, count]);

/**
 * Who speed-ups of a suite refer to: the slowest of our devices that ran all of it. Where none ran all, it is taken
 * from those that ran most; where no device was timed, from the peers. Undefined where nothing was timed that measures
 * speed.
 */
export function baseContender({ contenders, measurements }: Results, suite: string): string | undefined {
  const timed = measurements.filter(isTimed).filter((each) => each.suite === suite);
  const lines = contenders
    .filter(({ measuresSpeed }) => measuresSpeed)
    .map(({ name, kind }) => ({ name, kind, points: timed.filter(({ contender }) => contender === name) }))
    .filter(({ points }) => points.length > 0);
  const devices = lines.filter(({ kind }) => kind === 'device');
  const candidates = devices.length > 0 ? devices : lines;
  const most = Math.max(...candidates.map(({ points }) => points.length));
  const complete = candidates.filter(({ points }) => points.length === most);
  const sizes = complete.map(({ points }) => new Set(points.map(sizeOf)));
  const slowness = (points: readonly Timed[]) =>
    points
      .filter((point) => sizes.every((each) => each.has(sizeOf(point))))
      .reduce((sum, { time }) => sum + time.median, 0);
  return complete.sort((a, b) => slowness(b.points) - slowness(a.points))[0]?.name;
}
