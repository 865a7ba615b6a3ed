// Made-up results of a benchmark: valid, with one of everything in the schema.
import type { ContenderFacts, Measurement, Results, Time } from '../../bench/results.ts';

export const machine: Results['machine'] = {
  processor: 'A processor',
  processors: 2,
  memoryGiB: 8,
  system: 'linux 6.1 x64',
  node: '20.19.0',
  covarium: '0.1.0',
  commit: '0123456789ab+',
  load: 0.5,
  power: 'mains',
  environment: { OPENBLAS_NUM_THREADS: '2' },
};

export function contender(name: string, fields: Partial<ContenderFacts> = {}): ContenderFacts {
  const facts = { blas: 'OpenBLAS 0.3.21' };
  return {
    name,
    kind: 'device',
    available: true,
    about: 'a BLAS',
    reason: '',
    threads: 2,
    facts,
    measuresSpeed: true,
    ...fields,
  };
}

/** Five rounds about a median, their quartiles 2% away. */
export function time(median: number, fields: Partial<Time> = {}): Time {
  const rounds = [0.99, 1.01, 1, 0.995, 1.005].map((factor) => factor * median);
  return { runs: 100, median, p25: 0.98 * median, p75: 1.02 * median, relativeMargin: 0.01, rounds, ...fields };
}

/** Timed, unless the fields say otherwise. */
export function measurement(fields: Partial<Measurement>): Measurement {
  return {
    suite: 'matrix-product',
    case: 'square',
    dtype: 'float32',
    dimension: 1000,
    count: null,
    contender: 'cpu',
    state: 'timed',
    reason: '',
    check: null,
    time: time(1e6),
    split: null,
    shareOfLimit: null,
    ...fields,
  };
}

export function untimed(
  state: 'wrong' | 'failed' | 'left out',
  reason: string,
  fields: Partial<Measurement>,
): Measurement {
  return measurement({ state, reason, time: null, ...fields });
}

export function results(fields: Partial<Results> = {}): Results {
  return {
    schema: 'covarium-benchmark',
    version: 2,
    started: '2025-01-31T12:00:00.000Z',
    seconds: 61.5,
    partial: false,
    options: {
      suites: ['matrix-product', 'normals'],
      dimensions: [1000],
      counts: [1, 100],
      dtypes: ['float32', 'float64'],
      quick: false,
      millisecondsPerCase: 500,
      rounds: 5,
    },
    machine,
    contenders: [
      contender('reference', { threads: 1, facts: {} }),
      contender('cpu'),
      contender('metal', { available: false, about: '', reason: 'There is no Metal here.', threads: null, facts: {} }),
    ],
    limits: [{ contender: 'cpu', dtype: 'float32', flopsPerSecond: 4e11, bytesPerSecond: 2e10, normalsPerSecond: 4e9 }],
    measurements: [
      measurement({
        contender: 'reference',
        check: { against: 'definition', error: 0, tolerance: 1e-5 },
        time: time(4e8),
      }),
      measurement({
        check: { against: 'reference', error: 1e-7, tolerance: 1e-5 },
        split: { encode: 1e4, device: 9.8e5, readBack: 0, rest: 1e4 },
        shareOfLimit: 0.9,
      }),
      untimed('wrong', 'It differs.', {
        suite: 'normals',
        case: 'fill',
        dimension: null,
        count: 100,
        check: { against: 'reference', error: 0.5, tolerance: 0 },
      }),
      untimed('left out', 'It takes too long.', { contender: 'reference', dimension: 4000 }),
    ],
    ...fields,
  };
}
