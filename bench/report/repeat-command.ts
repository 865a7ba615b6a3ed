import type { Results } from '../results.ts';

/** The command that asks for the same run, on this machine or another. */
export function repeatCommand({ options, contenders }: Results): string {
  const { suites, dimensions, counts, dtypes, quick, rounds, millisecondsPerCase } = options;
  const devices = contenders.filter(({ kind }) => kind === 'device').map(({ name }) => name);
  const hasPeers = contenders.some(({ kind }) => kind === 'peer');
  const words = [
    ...['covarium', 'bench', ...suites],
    ...(quick ? ['--quick'] : []),
    ...(dimensions.length > 0 ? ['--dimensions', dimensions.join(',')] : []),
    ...(counts.length > 0 ? ['--counts', counts.join(',')] : []),
    ...(dtypes.length > 0 ? ['--dtypes', dtypes.join(',')] : []),
    ...['--rounds', `${rounds}`, '--time', `${millisecondsPerCase}`],
    ...(devices.length > 0 ? ['--devices', devices.join(',')] : []),
    ...(hasPeers ? [] : ['--no-peers']),
    ...['--output', 'report/'],
  ];
  return words.map(quoted).join(' ');
}

/** A word as a POSIX shell takes it. */
function quoted(word: string): string {
  return /^[\w./,=:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
