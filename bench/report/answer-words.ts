// Answers in sentences.
import type { Crossover } from '../crossover.ts';
import type { Results } from '../results.ts';
import { type Answer, answers, verdictOf } from './answer.ts';
import { reportTitle } from './page-title.ts';
import { countText, numberText, timesText, timeText } from './quantity.ts';

/** The run's answer in a sentence, or its title if there is no answer. */
export function headline(results: Results): string {
  const all = answers(results);
  const [first] = all;
  if (first === undefined) return reportTitle(results);
  // The device that leads most cases stands for the run.
  const names = all.map(({ leader }) => leader.contender);
  const most = (name: string) => names.filter((each) => each === name).length;
  const device = names.toSorted((a, b) => most(b) - most(a))[0]!;
  const own = all.filter(({ leader }) => leader.contender === device);
  if (all.length === 1) return `${answerText(first)}.`;
  const count = (verdict: string) => own.filter(({ rival }) => verdictOf(rival) === verdict).length;
  const wins = own.filter(({ rival }) => verdictOf(rival) === 'faster');
  const sizes = new Set(all.map(({ panel, size }) => (size === null ? '' : ` at ${panel.axis} ${numberText(size)}`)));
  const where = sizes.size === 1 ? [...sizes][0]! : ', each at its largest size';
  const cases =
    wins.length === all.length ? `all ${all.length} cases` : `${wins.length} of ${countText(all.length, 'case')}`;
  const rival = first.againstPeers ? 'its fastest rival' : 'the next device';
  if (wins.length === 0)
    return `${device} is not faster than ${rival} in any of ${countText(all.length, 'case')}${where}.`;
  const others = [
    ...(count('level') > 0 ? [`level in ${count('level')}`] : []),
    ...(count('slower') > 0 ? [`behind in ${count('slower')}`] : []),
  ];
  const rest = others.length === 0 ? '' : `; ${others.join(', ')}`;
  return `${device} is ${rangeText(wins.map(({ rival }) => rival.ratio))} times as fast as ${rival} in ${cases}${where}${rest}.`;
}

/** `1.05`, or `1.05 to 1.8`. */
export function rangeText(ratios: readonly number[]): string {
  return [...new Set([Math.min(...ratios), Math.max(...ratios)].map(timesText))].join(' to ');
}

/** Who is how many times as fast as whom: `cpu is 1.7 times as fast as torch, its fastest rival, at dimension 1000`. */
function answerText({ leader, rival, panel, size, againstPeers }: Answer): string {
  const [own, other] = [leader.contender, rival.other.contender];
  const where = size === null ? '' : ` at ${panel.axis} ${numberText(size)}`;
  const role = againstPeers ? 'its fastest rival' : 'the next device';
  switch (verdictOf(rival)) {
    case 'faster':
      return `${own} is ${timesText(rival.ratio)} times as fast as ${other}, ${role},${where}`.replace(/,$/, '');
    case 'slower':
      return `${other} is ${timesText(1 / rival.ratio)} times as fast as ${own}${where}`;
    case 'level':
      return `${own} and ${other} are equally fast within the noise${where}`;
  }
}

/**
 * The details of a case beside its figure: the times, how certain the ratio is, from which size on the leader leads,
 * and which contenders it overtakes.
 */
export function detailSentences(answer: Answer, crossings: readonly Crossover[]): string[] {
  const { leader, rival, againstPeers } = answer;
  const { interval } = rival;
  const times = `${timeText(leader.time.median)} against ${timeText(rival.other.time.median)}`;
  const sure =
    interval === undefined
      ? 'too few rounds for an interval'
      : `99% interval of the ratio: ${timesText(interval.low)} to ${timesText(interval.high)}`;
  const rivals = againstPeers ? 'every rival' : 'every other device';
  return [
    `${answerText(answer)}: ${times} (${sure}).`,
    ...(answer.size === null ? [] : [`${leader.contender} ${leadText(answer, 'is faster than', rivals)}.`]),
    ...crossingSentences(leader.contender, crossings),
  ];
}

/**
 * From which size on the leader is ahead, as the rest of a sentence: `is faster than every rival from dimension 256
 * on`.
 */
export function leadText({ panel: { axis }, sizes, ahead }: Answer, verb = 'leads', rivals = ''): string {
  const leads = rivals === '' ? verb : `${verb} ${rivals}`;
  const first = ahead[0] ?? null;
  if (first === null) return `does not lead at the largest ${axis}`;
  if (ahead.length === sizes.length) return `${leads} at ${sizes.length === 1 ? 'the one' : 'every'} ${axis} measured`;
  return `${leads} ${ahead.length === 1 ? 'only at' : 'from'} ${axis} ${numberText(first)}${ahead.length === 1 ? '' : ' on'}`;
}

function crossingSentences(leader: string, crossings: readonly Crossover[]): string[] {
  const list = (own: readonly Crossover[], other: (each: Crossover) => string) =>
    own.map((each) => `${other(each)} at about dimension ${numberText(Math.round(each.dimension))}`).join(', ');
  const overtakes = crossings.filter(({ faster }) => faster === leader);
  const overtaken = crossings.filter(({ slower }) => slower === leader);
  return [
    ...(overtakes.length > 0 ? [`It overtakes ${list(overtakes, ({ slower }) => slower)}.`] : []),
    ...(overtaken.length > 0 ? [`It is overtaken by ${list(overtaken, ({ faster }) => faster)}.`] : []),
  ];
}
