import type { Device } from '../../lib/index.ts';
import { MultivariateNormal } from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import type { LaidOut, Suite } from '../suite.ts';

// One call is too short for the clock.
const repeats = 50;

function emptyCommit(device: Device): LaidOut {
  const run = () => {
    for (let i = 0; i < repeats; ++i) device.commandBuffer().commitSync();
    return undefined;
  };
  return { run, repeats, close: () => {} };
}

function awaitedCommit(device: Device): LaidOut {
  const run = async () => {
    for (let i = 0; i < repeats; ++i) await device.commandBuffer().commit();
    return undefined;
  };
  return { run, isAsync: true, repeats, close: () => {} };
}

function smallDraw(device: Device): LaidOut {
  const normal = MultivariateNormal.fromCovarianceSync({
    device,
    covariance: [
      [1, 0.5],
      [0.5, 1],
    ],
  });
  const out = new Float32Array(2);
  const run = () => {
    for (let i = 0; i < repeats; ++i) normal.sampleSync(1, { seed: 42, out });
    return undefined;
  };
  return { run, repeats, result: () => out, close: () => normal.close() };
}

const cases: Readonly<Record<string, (device: Device) => LaidOut>> = {
  'empty commit': emptyCommit,
  'empty commit, awaited': awaitedCommit,
  'one draw of two numbers': smallDraw,
};

/**
 * What a call costs that has next to nothing to compute: the way through JavaScript, Node-API and the device's queue.
 */
export const call: Suite = {
  name: 'call',
  problems: () =>
    Object.keys(cases).map(
      (name): Problem => ({
        suite: 'call',
        case: name,
        dtype: null,
        dimension: null,
        count: null,
        work: { flops: 0, bytes: 0, normals: 0 },
        inputs: () => ({}),
        tolerance: 1e-5,
      }),
    ),
  layOut: (problem, device) => cases[problem.case]?.(device),
};
