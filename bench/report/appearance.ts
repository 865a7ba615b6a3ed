import { seriesColours } from '../../lib/plot/svg.ts';
import type { Results } from '../results.ts';

/** How a contender looks in every picture of a report. */
export interface Appearance {
  readonly contender: string;
  /** The name, with a note if the contender does not measure speed. */
  readonly label: string;
  readonly colour: string;
  readonly symbol: string;
  /** Lengths of strokes and gaps, as in SVG's stroke-dasharray. */
  readonly dash: string;
}

const symbols = ['circle', 'square', 'triangle', 'diamond', 'cross', 'star', 'wye'];
const dashes = ['none', '7 3', '2 3', '9 3 2 3', '4 2'];

/**
 * One for each contender that was timed, in the order of the run. The three lists have lengths without a common
 * divisor, so that 280 contenders differ in one of colour, symbol and dash.
 */
export function appearances(results: Results): Appearance[] {
  const timed = new Set(results.measurements.filter(({ time }) => time !== null).map(({ contender }) => contender));
  return results.contenders
    .filter(({ name }) => timed.has(name))
    .map(({ name, measuresSpeed }, i) => ({
      contender: name,
      label: measuresSpeed ? name : `${name} (no measure of speed)`,
      colour: seriesColours[i % seriesColours.length]!,
      symbol: symbols[i % symbols.length]!,
      dash: dashes[i % dashes.length]!,
    }));
}

/** Names of those whose times say something about speed. */
export function speedy(results: Results): ReadonlySet<string> {
  return new Set(results.contenders.filter(({ measuresSpeed }) => measuresSpeed).map(({ name }) => name));
}
