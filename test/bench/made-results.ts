// Results of a run that never happened, with everything that a report must handle: devices and peers, a stand-in, a
// contender that is not available; measurements that are wrong, failed and left out; sizes that one contender lacks;
// names that contain markup.
import type { ContenderFacts, Measurement, Results, Split } from '../../bench/results.ts';

export const hostile = '</script><script>alert("|*_`&amp;\u00a0`_*|")</script> <img src=//example.invalid/x>';

interface Speed {
  readonly name: string;
  /** Nanoseconds that any run takes, and nanoseconds per flop. */
  readonly start: number;
  readonly perFlop: number;
  readonly splits: boolean;
}

const speeds: readonly Speed[] = [
  { name: 'metal', start: 190_000, perFlop: 0.0009, splits: true },
  { name: 'cpu', start: 4_000, perFlop: 0.0023, splits: true },
  { name: 'cpu-1', start: 2_500, perFlop: 0.0045, splits: true },
  { name: 'reference', start: 1_500, perFlop: 1.3, splits: true },
  { name: 'softmetal', start: 400_000, perFlop: 0.01, splits: true },
  { name: 'ml-matrix', start: 900, perFlop: 2.1, splits: false },
  { name: 'numpy', start: 21_000, perFlop: 0.0051, splits: false },
  { name: 'numpy-by-hand', start: 20_000, perFlop: 0.0024, splits: false },
  { name: hostile, start: 30_000, perFlop: 0.004, splits: false },
];

function contender(name: string, more: Partial<ContenderFacts> = {}): ContenderFacts {
  const kind = speeds.slice(0, 5).some((speed) => speed.name === name) ? 'device' : 'peer';
  const about = `${name} as made up`;
  return { name, kind, available: true, about, reason: '', threads: 2, facts: {}, measuresSpeed: true, ...more };
}

/** Numbers between -1 and 1 that are the same each time. */
function noise(seed: number): number {
  return 2 * ((Math.imul(seed, 2654435761) >>> 0) / 2 ** 32) - 1;
}

let made = 0;

function measurement(
  suite: string,
  name: string,
  size: { dimension: number | null; count: number | null },
  { name: contender, start, perFlop, splits }: Speed,
  flops: number,
  dtype: Measurement['dtype'] = 'float32',
): Measurement {
  made += 1;
  const median = Math.round((start + flops * perFlop) * (1 + 0.1 * noise(made)));
  const [p25, p75] = [Math.round(median * 0.96), Math.round(median * (1.05 + 0.1 * Math.abs(noise(made + 7))))];
  const time = {
    runs: 20 + (made % 50),
    median,
    p25,
    p75,
    relativeMargin: 0.01 + (made % 12) / 100,
    rounds: [p25, median, p75],
  };
  const [encode, readBack] = [Math.round(start * 0.2), 0];
  const device = Math.round((median - encode) * 0.9);
  const split: Split | null = splits ? { encode, device, readBack, rest: median - encode - device - readBack } : null;
  const check = { against: 'reference', error: made % 3 === 0 ? 0 : 3e-7, tolerance: 1.6e-5 };
  return {
    suite,
    case: name,
    dtype,
    ...size,
    contender,
    state: 'timed',
    reason: '',
    check,
    time,
    split,
    shareOfLimit: (made % 100) / 100,
  };
}

function not(state: 'wrong' | 'failed' | 'left out', reason: string, timed: Measurement): Measurement {
  const check = state === 'wrong' ? { against: 'reference', error: 0.31, tolerance: 1.6e-5 } : null;
  return { ...timed, state, reason, check, time: null, split: null, shareOfLimit: null };
}

function measurements(): Measurement[] {
  made = 0;
  const dimensions = [64, 256, 1000, 2048];
  const out: Measurement[] = [];
  for (const n of dimensions)
    for (const speed of speeds) {
      const one = measurement(
        'transform-normal',
        'one draw',
        { dimension: n, count: null },
        speed,
        n ** 3 / 3 + n * (n + 1),
      );
      if (speed.name === 'reference' && n === 2048) out.push(not('left out', 'It would take about 40 s a run.', one));
      else if (speed.name === 'numpy' && n === 256) out.push(not('wrong', 'One number | is off.', one));
      else if (speed.name === hostile && n === 1000) out.push(not('failed', hostile, one));
      else out.push(one);
    }
  for (const dtype of ['float32', 'float64'] as const)
    for (const count of [1, 100])
      for (const n of dimensions.slice(0, 3))
        for (const speed of speeds.slice(0, 4)) {
          const one = measurement(
            'sampling',
            'factor kept',
            { dimension: n, count },
            speed,
            count * n * (n + 1),
            dtype,
          );
          if (speed.name !== 'metal' || dtype === 'float32') out.push(one);
          else out.push(not('left out', 'metal does not support float64.', one));
        }
  for (const count of [100, 10_000, 1_000_000])
    for (const speed of speeds.slice(0, 2))
      out.push(measurement('normals', 'fill', { dimension: null, count }, speed, count));
  for (const name of ['empty commit', hostile])
    for (const speed of speeds.slice(0, 4))
      out.push(measurement('call', name, { dimension: null, count: null }, speed, 0, null));
  return out;
}

export function madeResults(): Results {
  return {
    schema: 'covarium-benchmark',
    version: 2,
    started: '2026-03-01T10:20:30.000Z',
    seconds: 754.2,
    partial: true,
    options: {
      suites: ['transform-normal', 'sampling', 'normals', 'call'],
      dimensions: [64, 256, 1000, 2048],
      counts: [1, 100],
      dtypes: ['float32', 'float64'],
      quick: false,
      millisecondsPerCase: 500,
      rounds: 3,
    },
    machine: {
      processor: '<script>alert(1)</script> | Made Up 3000',
      processors: 8,
      memoryGiB: 16,
      system: 'linux 6.1.0 x64',
      node: '20.19.0',
      covarium: '0.1.0',
      commit: '0123456789abcdef0123456789abcdef01234567+',
      load: 5.1,
      power: 'battery',
      environment: { OPENBLAS_NUM_THREADS: '2' },
    },
    contenders: [
      ...speeds.map(({ name }) =>
        contender(name, {
          measuresSpeed: name !== 'softmetal',
          threads: name === 'metal' ? null : 2,
          facts: name === 'cpu' ? { 'core type': 'ZEN' } : {},
        }),
      ),
      contender('pytorch', { available: false, about: '', threads: null, reason: 'Python has no module torch.' }),
      contender('mvtnorm', { available: false, about: '', threads: null, reason: hostile }),
    ],
    limits: speeds.slice(0, 4).map(({ name, perFlop }) => ({
      contender: name,
      dtype: 'float32',
      flopsPerSecond: 1e9 / perFlop,
      bytesPerSecond: 21e9,
      normalsPerSecond: 0.3e9 / perFlop,
    })),
    measurements: measurements(),
  };
}
