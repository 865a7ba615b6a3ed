import type { Results } from '../results.ts';
import { answerOf } from './answer.ts';
import { appearances } from './appearance.ts';
import { type Chart, withUniqueNames } from './chart.ts';
import { isListed, panels } from './panel.ts';
import { speedUpChart } from './speed-up-chart.ts';
import { splitChart } from './split-chart.ts';
import { timeChart } from './time-chart.ts';

/** Every picture of a run, panel by panel: time against size, speed-ups, and what the time is spent on. */
export function chartsOf(results: Results): Chart[] {
  const looks = appearances(results);
  const charts = panels(results).flatMap((panel) => {
    if (isListed(panel.suite)) return [];
    const answer = answerOf(results, panel);
    return [timeChart(panel, looks), answer && speedUpChart(results, answer, looks), splitChart(panel, looks)].filter(
      (chart) => chart !== undefined,
    );
  });
  return withUniqueNames(charts);
}
