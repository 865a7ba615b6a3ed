// Go's benchmark format (golang.org/design/14313-benchmark-format), which benchstat reads: lines of configuration,
// then one line per benchmark with its name, the number of runs and the time of one.
import type { Results } from '../results.ts';
import { isTimed, type Timed } from './timed.ts';

/** One line per measurement: its median. */
export function benchmarkLines(results: Results): string {
  return lines(results, ({ runs, median }) => [{ runs, nanoseconds: median }]);
}

/** One line per round, so that benchstat has samples to compare. */
export function benchmarkRounds(results: Results): string {
  return lines(results, ({ runs, rounds }) =>
    rounds.map((nanoseconds) => ({ runs: Math.max(1, Math.round(runs / rounds.length)), nanoseconds })),
  );
}

type Lines = (time: Timed['time']) => readonly { readonly runs: number; readonly nanoseconds: number }[];

function lines(results: Results, linesOf: Lines): string {
  const [goos = '', , goarch = ''] = results.machine.system.split(' ');
  const configuration = { goos, goarch, pkg: 'covarium', cpu: results.machine.processor };
  const head = Object.entries(configuration).map(([key, value]) => `${key}: ${value.replace(/\s+/g, ' ')}`);
  const threads = new Map(results.contenders.map((each) => [each.name, each.threads]));
  const body = results.measurements.filter(isTimed).flatMap((measurement) => {
    const name = nameOf(measurement, threads.get(measurement.contender) ?? 1);
    return linesOf(measurement.time).map(
      ({ runs, nanoseconds }) => `${name}\t${runs}\t${nanosecondText(nanoseconds)} ns/op`,
    );
  });
  return [...head, ...body].join('\n');
}

/**
 * `BenchmarkTransformNormal/case=one-draw/dtype=float32/contender=cpu/dimension=1000-2`; the number after the last
 * hyphen is that of threads.
 */
function nameOf({ suite, case: name, dtype, contender, dimension, count }: Timed, threads: number): string {
  const keys = { case: name, dtype, contender, dimension, count };
  const parts = Object.entries(keys).flatMap(([key, value]) => (value === null ? [] : [`/${key}=${word(`${value}`)}`]));
  return `Benchmark${camel(suite)}${parts.join('')}-${threads}`;
}

/** A part of a name, without spaces and without slashes, which would begin another part. */
function word(text: string): string {
  return text.match(/[\p{L}\p{N}.,_]+/gu)?.join('-') ?? 'none';
}

function camel(text: string): string {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? ['None'];
  return words.map((each) => each.charAt(0).toUpperCase() + each.slice(1)).join('');
}

function nanosecondText(value: number): string {
  return value >= 100 ? `${Math.round(value)}` : `${Number(value.toPrecision(4))}`;
}
