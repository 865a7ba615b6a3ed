// A Kalman filter (Kalman 1960) in two calls a step: `affine` predicts, `conditional` corrects. It follows a body at
// nearly constant velocity through noisy positions, and is compared with the textbook's recursion.
import { MultivariateNormal } from '../lib/index.ts';
import { askedDevice, exampleOptions } from './example-options.ts';
import { tellWithin } from './verdict.ts';

const { device: kind, steps } = exampleOptions({ steps: 100 });
using device = askedDevice(kind);
const dtype = device.dtypes.includes('float64') ? 'float64' : 'float32';

// Position and velocity in a plane; white acceleration of variance q; positions are seen with variance r.
const [q, r] = [0.05, 4];
const transition = [
  [1, 0, 1, 0],
  [0, 1, 0, 1],
  [0, 0, 1, 0],
  [0, 0, 0, 1],
];
const drift = [
  [q / 3, 0, q / 2, 0],
  [0, q / 3, 0, q / 2],
  [q / 2, 0, q, 0],
  [0, q / 2, 0, q],
];
// The state, and under it what is seen of it.
const observation = [...identity(4), [1, 0, 0, 0], [0, 1, 0, 0]];
const noise = observation.map((_, i) => observation.map((_, j) => (i === j && i >= 4 ? r : 0)));

const { path, seen } = simulated();
const prior = { mean: [0, 0, 0, 0], covariance: identity(4).map((row) => row.map((entry) => 100 * entry)) };
let state = await MultivariateNormal.fromCovariance({ device, dtype, ...prior });
let textbook = prior;
let [apart, errors, noises] = [0, 0, 0];
for (const [k, measured] of seen.entries()) {
  using before = state;
  using predicted = await before.affine({ matrix: transition, noise: drift });
  using joint = await predicted.affine({ matrix: observation, noise });
  state = await joint.conditional({ given: [4, 5], values: measured });

  textbook = recursion(textbook, measured);
  const mean = state.mean.toArray();
  const spread = state.covarianceSync().toArray();
  mean.forEach((value, i) => {
    apart = Math.max(apart, Math.abs(value - textbook.mean[i]!) / Math.sqrt(textbook.covariance[i]![i]!));
    apart = Math.max(apart, Math.abs(spread[i]![i]! / textbook.covariance[i]![i]! - 1));
  });
  for (const i of [0, 1]) {
    errors += (mean[i]! - path[k]![i]!) ** 2;
    noises += (measured[i]! - path[k]![i]!) ** 2;
  }
}
state.close();
const [filtered, raw] = [errors, noises].map((sum) => Math.sqrt(sum / seen.length).toFixed(2));
console.log(`error    ${raw} as measured, ${filtered} filtered (root mean square of ${steps} steps)`);
tellWithin('textbook, in standard deviations', apart, 0, dtype === 'float64' ? 1e-10 : 1e-2);
if (!(errors < noises)) process.exitCode = 1;

/** A path of the model, and what is seen of it, from the normal stream. */
function simulated(): { path: number[][]; seen: number[][] } {
  using step = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: drift });
  using sight = MultivariateNormal.fromCovarianceSync({
    device,
    dtype,
    covariance: identity(2).map((row) => row.map((entry) => r * entry)),
  });
  const pushes = step.sampleSync(steps, { seed: 1960 }).toArray();
  const slips = sight.sampleSync(steps, { seed: 1960, stream: 1 }).toArray();
  let at = [0, 0, 1, 0.5];
  const path = pushes.map((push) => {
    at = transition.map((row, i) => dot(row, at) + push[i]!);
    return at;
  });
  return { path, seen: path.map((state, k) => slips[k]!.map((slip, i) => state[i]! + slip)) };
}

type Moments = { mean: number[]; covariance: number[][] };

/** x = F x, P = F P F' + Q; S = P_yy + R, K = P_xy S^-1, x += K (y - x_y), P -= K P_yx. */
function recursion({ mean, covariance }: Moments, measured: readonly number[]): Moments {
  const x = transition.map((row) => dot(row, mean));
  const half = covariance.map((row) => transition.map((other) => dot(other, row)));
  const p = transition.map((row, i) =>
    transition.map(
      (_, j) =>
        dot(
          row,
          half.map((each) => each[j]!),
        ) + drift[i]![j]!,
    ),
  );
  const [a, b, d] = [p[0]![0]! + r, p[0]![1]!, p[1]![1]! + r];
  const determinant = a * d - b * b;
  const gain = p.map(([u, v]) => [(u! * d - v! * b) / determinant, (v! * a - u! * b) / determinant]);
  const surprise = [measured[0]! - x[0]!, measured[1]! - x[1]!];
  return {
    mean: x.map((value, i) => value + dot(gain[i]!, surprise)),
    covariance: p.map((row, i) => row.map((value, j) => value - dot(gain[i]!, [p[0]![j]!, p[1]![j]!]))),
  };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, each, i) => sum + each * b[i]!, 0);
}

function identity(n: number): number[][] {
  return Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));
}
