import type { Results } from '../results.ts';
import { countText, shareText } from './quantity.ts';
import { isTimed } from './timed.ts';

/** What a reader must know before believing the figures of a run, one sentence each. */
export function warningsOf(results: Results): string[] {
  return [...ofTheRun(results), ...ofTheMachine(results), ...ofTheFigures(results)];
}

function ofTheRun({ partial, options, contenders, measurements }: Results): string[] {
  const warnings: string[] = [];
  if (partial) warnings.push('This run is partial: it was interrupted before all that was asked for was measured.');
  if (options.quick)
    warnings.push('This was a quick run (--quick): small sizes and few runs. Measure without it before you publish.');
  for (const { name, available, measuresSpeed } of contenders)
    if (available && !measuresSpeed)
      warnings.push(
        `${name} is a software stand-in: its times are no measure of speed, and it takes no part in speed-ups and crossovers.`,
      );
  const wrong = measurements.filter(({ state }) => state === 'wrong');
  if (wrong.length > 0) {
    const names = [...new Set(wrong.map(({ contender }) => contender))].join(', ');
    warnings.push(
      `${countText(wrong.length, 'result')} came out wrong and ${wrong.length === 1 ? 'was' : 'were'} not timed (${names}).`,
    );
  }
  const failed = measurements.filter(({ state }) => state === 'failed').length;
  if (failed > 0) warnings.push(`${countText(failed, 'measurement')} failed.`);
  if (measurements.every((each) => !isTimed(each))) warnings.push('Nothing was timed.');
  return warnings;
}

function ofTheMachine({ machine }: Results): string[] {
  const { load, processors, power, environment, commit } = machine;
  const warnings: string[] = [];
  // If other work keeps a quarter of the processors busy, cases that use all of them are visibly slower.
  if (load !== null && load > processors / 4)
    warnings.push(
      `The machine was busy as the run began: load average (${load.toFixed(2)}) on ${countText(processors, 'processor')}.`,
    );
  if (power === 'battery') warnings.push('The machine ran on battery: it may have been held back.');
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  if (set.length > 0) warnings.push(`Variables of the environment change speed (${set.join(', ')}).`);
  if (commit.endsWith('+')) warnings.push('The checkout had changes that are in no commit.');
  return warnings;
}

/** Above these, a difference between two contenders may be noise. */
const wideMargin = 0.1;
const wideDrift = 1.25;

function ofTheFigures({ measurements }: Results): string[] {
  const timed = measurements.filter(isTimed);
  const warnings: string[] = [];
  const noisy = timed.filter(({ time }) => time.relativeMargin > wideMargin).length;
  if (noisy > 0)
    warnings.push(`${noisy} of ${countText(timed.length, 'time')} have a margin above ${shareText(wideMargin)}.`);
  const drift = timed.filter(
    ({ time: { rounds } }) => rounds.length > 1 && Math.max(...rounds) > wideDrift * Math.min(...rounds),
  ).length;
  if (drift > 0)
    warnings.push(
      `${drift} of ${countText(timed.length, 'time')} differ between their rounds by more than ${shareText(wideDrift - 1)}: the machine's speed drifted.`,
    );
  return warnings;
}
