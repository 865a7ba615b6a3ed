// Tables about the run as a whole: the machine, who took part, what the limits are.
import type { Results } from '../results.ts';
import type { Table } from './block.ts';
import { numberText, rateText } from './quantity.ts';

export function machineTable({ machine, started, seconds, options }: Results): Table {
  const { processor, processors, memoryGiB, system, node, covarium, commit, load, power } = machine;
  const asked = [`${options.rounds} rounds`, `${numberText(options.millisecondsPerCase)} ms a case and contender`];
  return {
    caption: 'Machine and run',
    columns: [{ title: 'fact' }, { title: 'value' }],
    rows: [
      ['processor', `${processor}, ${processors} processors`],
      ['memory', `${memoryGiB} GiB`],
      ['system', system],
      ['Node', node],
      ['covarium', commit === '' ? covarium : `${covarium}, commit ${commit}`],
      ['load at the start', load === null ? 'unknown' : load.toFixed(2)],
      ['power', power === '' ? 'unknown' : power],
      ['started', started],
      ['took', `${Math.round(seconds)} s`],
      ['measured', asked.join(', ')],
    ],
  };
}

export function contenderTable({ contenders }: Results): Table {
  return {
    caption: 'Who took part',
    columns: [
      { title: 'name' },
      { title: 'kind' },
      { title: 'what it is' },
      { title: 'threads', isFigure: true },
      { title: 'facts' },
    ],
    rows: contenders
      .filter(({ available }) => available)
      .map(({ name, kind, about, threads, facts, measuresSpeed }) => [
        name,
        measuresSpeed ? kind : `${kind}, stand-in: no measure of speed`,
        about,
        threads === null ? '' : `${threads}`,
        Object.entries(facts)
          .map(([fact, value]) => `${fact}: ${value}`)
          .join('; '),
      ]),
  };
}

/** The requested contenders that are not available, one line each. */
export function absences({ contenders }: Results): string[] {
  return contenders
    .filter(({ available }) => !available)
    .map(({ name, reason }) => `${name} is not available: ${reason}`);
}

export function limitTable({ limits }: Results): Table {
  return {
    caption: 'Limits measured in this run',
    columns: [
      { title: 'contender' },
      { title: 'dtype' },
      { title: 'arithmetic', isFigure: true },
      { title: 'memory', isFigure: true },
      { title: 'normals', isFigure: true },
    ],
    rows: limits.map(({ contender, dtype, flopsPerSecond, bytesPerSecond, normalsPerSecond }) => [
      contender,
      dtype,
      rateText(flopsPerSecond, 'FLOP/s'),
      rateText(bytesPerSecond, 'B/s'),
      rateText(normalsPerSecond, '/s'),
    ]),
  };
}
