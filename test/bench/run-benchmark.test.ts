// The benchmark's run: results are checked before timing; what is left out; and the results after an interruption.
import { setTimeout } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Contender, Prepared, Problem } from '../../bench/contender.ts';
import { CostForecast } from '../../bench/cost-forecast.ts';
import { openDevices } from '../../bench/devices.ts';
import { Inputs } from '../../bench/inputs.ts';
import { LeftOut } from '../../bench/left-out.ts';
import { parseResults } from '../../bench/read-results.ts';
import type { ContenderFacts, Measurement, RunOptions } from '../../bench/results.ts';
import { type Observer, runBenchmark } from '../../bench/run-benchmark.ts';
import { suites } from '../../bench/suites.ts';
import { tryOut } from '../../bench/trial-pass.ts';

const brief: RunOptions = {
  suites: ['matrix-product'],
  dimensions: [8],
  counts: [3],
  dtypes: ['float32'],
  quick: true,
  millisecondsPerCase: 2,
  rounds: 2,
};

const silent: Observer = { estimate: () => {}, begin: () => {}, advance: () => {} };

const go = new AbortController().signal;

const never = () => false;

const facts = (name: string): ContenderFacts => ({
  name,
  kind: 'device',
  available: true,
  about: 'a test double',
  reason: '',
  threads: 1,
  facts: {},
  measuresSpeed: true,
});

interface Doubled {
  readonly contender: Contender;
  readonly asked: string[];
}

/** A contender that computes like the reference device, except what `ways` change; `asked` lists its calls. */
function doubled(name: string, ways: Partial<Prepared> & Partial<Contender> = {}): Doubled {
  const [reference] = openDevices(['reference']);
  const asked: string[] = [];
  const prepare = async (problem: Problem): Promise<Prepared | undefined> => {
    asked.push('prepare');
    const right = await reference!.prepare(problem);
    const measure = async () => {
      asked.push('measure');
      return { nanoseconds: [1000, 1100] };
    };
    return right && { result: () => right.result(), measure, close: () => right.close(), ...ways };
  };
  return { asked, contender: { facts: facts(name), prepare, close: () => reference!.close(), ...ways } as Contender };
}

async function run(options: Partial<RunOptions>, contenders: readonly Contender[], observer = silent, signal = go) {
  try {
    return await runBenchmark({ ...brief, ...options }, contenders, observer, signal);
  } finally {
    for (const contender of contenders) await contender.close();
  }
}

const stateOf = (measurements: readonly Measurement[], name: string) =>
  measurements.filter(({ contender }) => contender === name).map(({ state }) => state);

for (const suite of ['matrix-product', 'normals', 'cholesky', 'transfer'])
  test(`A planted wrong device is caught, reported with both figures, and never timed: ${suite}.`, async () => {
    const [reference] = openDevices(['reference']);
    const wrong = doubled('liar', {
      prepare: async (problem) => {
        const prepared = await reference!.prepare(problem);
        return (
          prepared && {
            ...prepared,
            result: async () => {
              const result = (await prepared.result())!;
              // The last bit of a normal is enough; a product may differ by rounding.
              if (problem.tolerance === 0) new Uint32Array(result.buffer)[3]! ^= 1;
              else result[3]! += 0.01;
              return result;
            },
            measure: () => {
              wrong.asked.push('measure');
              return prepared.measure(1);
            },
            close: () => prepared.close(),
          }
        );
      },
    });
    const right = doubled('reference');
    const { measurements, partial } = await run({ suites: [suite] }, [right.contender, wrong.contender]);
    await reference!.close();
    assert.is(partial, false);
    const caught = measurements.filter(({ contender }) => contender === 'liar');
    assert.ok(caught.length > 0);
    for (const { state, reason, check, time, shareOfLimit } of caught) {
      assert.is(state, 'wrong');
      assert.match(reason, /^Number \(3\) is \([-\d.e]+\), and that of reference \([-\d.e]+\)\.$/);
      assert.ok(check!.error > check!.tolerance);
      assert.is(check!.against, 'reference');
      assert.equal([time, shareOfLimit], [null, null]);
    }
    assert.equal(wrong.asked, [], 'it was never measured');
    assert.ok(right.asked.includes('measure'));
    assert.ok(stateOf(measurements, 'reference').every((state) => state === 'timed'));
  });

test('A contender that fails while it prepares, computes or measures is reported with the reason, and the others are timed.', async () => {
  const fail = async () => {
    throw new Error('The dog ate it.');
  };
  const tire = async () => {
    throw new LeftOut('It takes an hour.');
  };
  const contenders = [
    doubled('reference'),
    doubled('a', { prepare: fail }),
    doubled('b', { result: fail }),
    doubled('c', { measure: fail }),
    doubled('d', { prepare: async () => undefined }),
    doubled('e', { measure: tire }),
  ].map(({ contender }) => contender);
  const { measurements } = await run({}, contenders);
  assert.equal(
    measurements.map(({ contender, state, reason }) => [contender, state, reason]),
    [
      ['reference', 'timed', ''],
      ['a', 'failed', 'The dog ate it.'],
      ['b', 'failed', 'The dog ate it.'],
      ['c', 'failed', 'The dog ate it.'],
      ['e', 'left out', 'It takes an hour.'],
    ],
  );
});

test('A contender that would take too long is left out with the reason, and not even prepared.', async () => {
  const limit = async () => ({
    contender: 'snail',
    dtype: 'float32' as const,
    flopsPerSecond: 10,
    bytesPerSecond: 1,
    normalsPerSecond: 1,
  });
  const snail = doubled('snail', { limit });
  const { measurements, limits } = await run({}, [doubled('reference').contender, snail.contender]);
  assert.is(limits.length, 1);
  const [left] = measurements.filter(({ contender }) => contender === 'snail');
  assert.is(left!.state, 'left out');
  assert.is(left!.reason, 'A run takes about (100 s), and it is given (0.3 s).');
  assert.equal(snail.asked, []);
});

// The public functions have no definition here; test/normal and test/student-t check their results.
const defined = ['subnormal', 'kernels', 'triangular'];
for (const suite of suites.filter(({ name, isOnRequest }) => !isOnRequest || defined.includes(name)))
  test(`${suite.name}: without a baseline, a result is compared with its definition, at large sizes too.`, async () => {
    const dtypes = ['float32', 'float64'] as const;
    const sizes = suite.isOnRequest
      ? { dimensions: [1, 2, 300], counts: [50], dtypes }
      : { dimensions: [1, 2, 5, 300, 600], counts: [1, 500], dtypes };
    const { contender } = doubled('only');
    for (const problem of suite.problems(sizes, new Inputs())) {
      if (problem.isOptional || (problem.suite === 'matrix-product' && problem.dimension! > 300)) continue;
      const what = `${problem.case}, ${problem.dtype}, ${problem.dimension} x ${problem.count}`;
      const right = await contender.prepare(problem);
      const result = await right?.result();
      await right?.close();
      if (result === undefined) continue;
      // The last number is in a row that is checked at any size.
      for (const [place, change] of [
        [-1, 0],
        [0, 0.01],
        [result.length - 1, 0.01],
      ] as const) {
        const planted = result.map((value, i) => (i === place ? value + change * Math.max(1, Math.abs(value)) : value));
        const alone = doubled('alone', { result: async () => planted });
        const [trial] = await tryOut(problem, [alone.contender], new CostForecast([]), 60_000, never);
        assert.is(trial!.check?.against, 'definition', what);
        assert.is(trial!.state, change === 0 ? 'ready' : 'wrong', `${what}: ${trial!.reason}`);
        await alone.contender.close();
      }
      const short = doubled('short', { result: async () => result.slice(1) });
      const [trial] = await tryOut(problem, [short.contender], new CostForecast([]), 60_000, never);
      assert.is(trial!.state, 'wrong', 'a number is missing');
      await short.contender.close();
    }
    await contender.close();
  });

test('A contender that stalls in its first run is timed, because the shorter of two runs counts.', async () => {
  for (const [stalls, state] of [
    [1, 'timed'],
    [2, 'left out'],
  ] as const) {
    let runs = 0;
    const result = async () => {
      if (++runs <= stalls) await setTimeout(320);
      return undefined;
    };
    const { measurements } = await run({}, [doubled('a', { result }).contender]);
    assert.equal(stateOf(measurements, 'a'), [state]);
  }
});

test('A contender that takes long to get ready at first is timed at larger sizes, too.', async () => {
  // Getting ready is given 0.9 s.
  for (const [stalls, stallMs, states] of [
    [1, 1000, ['timed', 'timed']],
    [2, 700, ['timed', 'left out']],
  ] as const) {
    const calm = doubled('a').contender;
    let prepared = 0;
    const prepare = async (problem: Problem) => {
      if (++prepared <= stalls) await setTimeout(stallMs);
      return calm.prepare(problem);
    };
    const { measurements } = await run({ dimensions: [2, 20] }, [doubled('a', { prepare }).contender]);
    assert.equal(stateOf(measurements, 'a'), states);
    await calm.close();
  }
});

test('A wrong reference device is caught by the definition, and nothing is compared with it.', async () => {
  const liar = doubled('reference', { result: async () => new Float32Array(64).fill(1) });
  const { measurements } = await run({}, [liar.contender, doubled('cpu').contender]);
  assert.equal(
    measurements.map(({ contender, state, check }) => [contender, state, check?.against]),
    [
      ['reference', 'wrong', 'definition'],
      ['cpu', 'timed', 'definition'],
    ],
  );
});

test('A quick run that began long ago leaves out what no longer fits into its minute.', async () => {
  for (const [ago, state] of [
    [0, 'timed'],
    [31_000, 'left out'],
  ] as const) {
    // A machine under load may take twice as long: that is still less than one run is given.
    const result = async () => void (await setTimeout(120));
    // 90 rounds of 0.12 seconds are more than the 9 seconds that are left; 90 of 0.3 seconds are less than all 40.
    const { contender } = doubled('a', { result });
    const options = { ...brief, rounds: 90 };
    const { measurements } = await runBenchmark(options, [contender], silent, go, performance.now() - ago);
    await contender.close();
    assert.equal(stateOf(measurements, 'a'), [state]);
  }
});

test('A quick run that compares for long stops trying peers, and later devices.', async () => {
  for (const [ago, device, peer] of [
    [0, 'timed', 'timed'],
    [26_000, 'timed', 'left out'],
    [60_000, 'left out', 'left out'],
  ] as const) {
    const other = doubled('b').contender;
    const contenders = [
      doubled('a').contender,
      { ...other, prepare: other.prepare, close: other.close, facts: { ...other.facts, kind: 'peer' } } as Contender,
    ];
    const { measurements } = await runBenchmark(brief, contenders, silent, go, performance.now() - ago);
    const full = await runBenchmark({ ...brief, quick: false }, contenders, silent, go, performance.now() - ago);
    for (const contender of contenders) await contender.close();
    assert.equal([stateOf(measurements, 'a'), stateOf(measurements, 'b')], [[device], [peer]]);
    assert.ok(full.measurements.every(({ state }) => state === 'timed'));
  }
});

test('In each round every contender measures a slice, in an order that rotates.', async () => {
  const order: string[] = [];
  const contenders = ['a', 'b', 'c'].map(
    (name) =>
      doubled(name, {
        measure: async () => {
          order.push(name);
          return { nanoseconds: [order.length, order.length] };
        },
      }).contender,
  );
  const { measurements } = await run({ rounds: 4 }, contenders);
  assert.is(order.join(''), 'abcbcacababc');
  assert.equal(measurements[0]!.time!.rounds, [1, 6, 8, 10]);
  assert.is(measurements[0]!.time!.runs, 8);
});

test('After an interruption the results have what was measured, marked as partial.', async () => {
  const options = { suites: ['matrix-vector'], dimensions: [2, 4, 6, 8] };
  const interruption = new AbortController();
  let [phase, slices] = ['', 0];
  const observer: Observer = {
    ...silent,
    begin: (what) => {
      phase = what;
    },
    advance: () => {
      // In the second problem, after its first slice.
      if (phase === 'Timing' && ++slices === 5) interruption.abort();
    },
  };
  const contenders = [doubled('reference'), doubled('b')].map(({ contender }) => contender);
  const results = await run(options, contenders, observer, interruption.signal);
  assert.is(results.partial, true);
  assert.equal(
    results.measurements.map(({ contender, dimension, state }) => [contender, dimension, state]),
    [
      ['reference', 2, 'timed'],
      ['b', 2, 'timed'],
      ['reference', 4, 'timed'],
    ],
  );
  assert.equal(parseResults(JSON.stringify(results), 'results.json'), results, 'nothing is lost in JSON');
  const early = await run(options, [doubled('reference').contender], silent, AbortSignal.abort());
  assert.equal([early.partial, early.measurements, early.limits], [true, [], []]);
});

test('A contender that fails because the run is interrupted does not count as failed.', async () => {
  for (const part of ['result', 'measure']) {
    const interruption = new AbortController();
    const die = async () => {
      interruption.abort();
      throw new Error('The process ends.');
    };
    const contenders = [doubled('reference').contender, doubled('b', { [part]: die }).contender];
    const { partial, measurements } = await run({}, contenders, silent, interruption.signal);
    assert.equal([partial, stateOf(measurements, 'b')], [true, []]);
  }
});

test('Shares of the limit, splits and the machine are in the results of a device.', async () => {
  const results = await run({ suites: ['matrix-product', 'transfer'] }, openDevices(['reference']));
  const [product, upload, download] = results.measurements;
  assert.ok(product!.shareOfLimit! > 0);
  assert.ok(product!.split!.device > 0);
  const { encode, device, readBack, rest } = product!.split!;
  assert.ok(encode + device + readBack + rest >= product!.time!.median * 0.999);
  assert.is(upload!.split, null);
  assert.ok(download!.split!.readBack > 0);
  assert.equal(parseResults(JSON.stringify(results), 'results.json'), results, 'it follows the schema');
  const { machine, limits, contenders } = results;
  assert.ok(machine.processors >= 1 && machine.covarium !== '' && machine.processor !== '');
  assert.ok(limits[0]!.flopsPerSecond > 1e6 && limits[0]!.bytesPerSecond > 1e6 && limits[0]!.normalsPerSecond > 1e5);
  assert.equal([contenders[0]!.name, contenders[0]!.available], ['reference', true]);
});

test.run();
