import { Bench } from 'tinybench';
import type { Real, RealDtype } from '../lib/dtype.ts';
import type { Device } from '../lib/index.ts';
import type { Contender, Prepared, Problem, Samples } from './contender.ts';
import { measureLimit } from './limits.ts';
import type { ContenderFacts, Limit, Use } from './results.ts';
import type { LaidOut, Parts } from './suite.ts';
import { suites } from './suites.ts';
import { watchedHere } from './watched-run.ts';

/** One of our devices; `close()` closes the device. */
export class DeviceContender implements Contender {
  readonly facts: ContenderFacts;
  readonly dtypes: readonly RealDtype[];
  readonly #device: Device;

  constructor(facts: ContenderFacts, device: Device) {
    this.facts = facts;
    this.dtypes = (['float32', 'float64'] as const).filter((dtype) => device.dtypes.includes(dtype));
    this.#device = device;
  }

  async prepare(problem: Problem): Promise<Prepared | undefined> {
    const laidOut = await suites.find(({ name }) => name === problem.suite)?.layOut(problem, this.#device);
    return laidOut && new PreparedDevice(laidOut, problem.isWatched);
  }

  async limit(dtype: RealDtype, milliseconds: number): Promise<Limit> {
    return { contender: this.facts.name, ...measureLimit(this.#device, dtype, milliseconds) };
  }

  async close(): Promise<void> {
    this.#device.close();
  }
}

class PreparedDevice implements Prepared {
  readonly #laidOut: LaidOut;
  readonly #isWatched: boolean;
  #lastMs = 0;

  constructor(laidOut: LaidOut, isWatched = false) {
    this.#laidOut = laidOut;
    this.#isWatched = isWatched;
  }

  async watch(): Promise<Use | undefined> {
    return this.#isWatched ? watchedHere(async () => this.#laidOut.run()) : undefined;
  }

  async result(): Promise<Real | undefined> {
    const { run, result } = this.#laidOut;
    await run();
    return (await result?.())?.slice();
  }

  async measure(milliseconds: number): Promise<Samples> {
    const { run, isAsync = false, repeats = 1, nanoseconds: timedOf } = this.#laidOut;
    if (timedOf !== undefined) return { nanoseconds: await repeated(timedOf, milliseconds) };
    const parts: Parts[] = [];
    const bench = new Bench({
      time: milliseconds,
      iterations: 1,
      // A case whose run takes longer than half its slice was warmed up by the run before.
      warmup: this.#lastMs < milliseconds / 2,
      warmupTime: milliseconds / 10,
      warmupIterations: 1,
      retainSamples: true,
      throws: true,
      // Called once before the warm-up and once before the runs.
      setup: () => {
        parts.length = 0;
      },
    });
    const note = (part: Parts | undefined) => {
      if (part !== undefined) parts.push(part);
    };
    const work = isAsync ? async () => note(await run()) : () => note(run() as Parts | undefined);
    bench.add('case', work, { async: isAsync });
    const [task] = isAsync ? await bench.run() : bench.runSync();
    const { result } = task!;
    if (!('latency' in result)) throw new Error(`The case does not run (${result.state}).`);
    this.#lastMs = result.latency.p50;
    const nanoseconds = result.latency.samples!.map((ms) => (ms * 1e6) / repeats);
    if (parts.length === 0) return { nanoseconds };
    return { nanoseconds, splits: parts.map((part) => divided(part, repeats)) };
  }

  async close(): Promise<void> {
    this.#laidOut.close();
  }
}

async function repeated(once: () => Promise<number>, milliseconds: number): Promise<number[]> {
  const found: number[] = [];
  const end = performance.now() + milliseconds;
  do found.push(await once());
  while (performance.now() < end);
  return found;
}

function divided({ encode, device, readBack }: Parts, repeats: number): Parts {
  return { encode: encode / repeats, device: device / repeats, readBack: readBack / repeats };
}
