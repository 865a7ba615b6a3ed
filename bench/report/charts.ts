import type { Results } from '../results.ts';
import { appearances } from './appearance.ts';
import { type Chart, withUniqueNames } from './chart.ts';
import { crossoverChart } from './crossover-chart.ts';
import { panels } from './panel.ts';
import { speedUpChart } from './speed-up-chart.ts';
import { splitChart } from './split-chart.ts';
import { timeChart } from './time-chart.ts';

/**
 * Every picture of a run, suite by suite: speed-ups, then time against size, then what the time is spent on, then
 * crossovers.
 */
export function chartsOf(results: Results): Chart[] {
  const looks = appearances(results);
  const all = panels(results);
  const suites = [...new Set(all.map(({ suite }) => suite))];
  const charts = suites.flatMap((suite) => {
    const own = all.filter((panel) => panel.suite === suite);
    return [
      speedUpChart(results, suite, looks),
      ...own.map((panel) => timeChart(panel, looks)),
      ...own.map((panel) => splitChart(panel, looks)),
      crossoverChart(results, suite, looks),
    ].filter((chart) => chart !== undefined);
  });
  return withUniqueNames(charts);
}
