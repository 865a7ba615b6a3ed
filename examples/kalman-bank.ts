// A bank of Kalman filters, each with its own guess of how much a body is pushed and how well it is seen (Magill 1965:
// the optimal estimate by a bank of filters). What each step surprises each filter by is a log density of a batch of
// normals; the filter whose sum is largest has the likeliest guess.
import { MultivariateNormal, MultivariateNormalBatch, Volume } from '../lib/index.ts';
import { askedDevice, exampleOptions } from './example-options.ts';
import { writePicture } from './picture.ts';
import { tellWithin } from './verdict.ts';

// Guesses along each side of the bank: side^2 filters.
const { device: kind, steps, side } = exampleOptions({ steps: 200, side: 100 });
using device = askedDevice(kind);
const [trueQ, trueR] = [0.05, 4];
const size = side * side;
const from = (least: number, most: number, i: number) => least * (most / least) ** (i / (side - 1));
const q = Float64Array.from({ length: size }, (_, b) => from(0.005, 0.5, b % side));
const r = Float64Array.from({ length: size }, (_, b) => from(0.5, 32, Math.floor(b / side)));
const seen = simulated();

// Position and velocity along a line; the covariance of each filter is (p, c; c, v).
const [x, u] = [new Float64Array(size), new Float64Array(size)];
const [p, c, v] = [new Float64Array(size).fill(100), new Float64Array(size), new Float64Array(size).fill(100)];
const scores = new Float64Array(size);
const covariances = Volume.from(new Float32Array(size), { width: 1, height: 1, depth: size });
const means = new Float32Array(size);
let apart = 0;
const began = performance.now();
for (const y of seen) {
  for (let b = 0; b < size; b++) {
    x[b]! += u[b]!;
    p[b]! += 2 * c[b]! + v[b]! + q[b]! / 3;
    c[b]! += v[b]! + q[b]! / 2;
    v[b]! += q[b]!;
    // What is seen is the position and the noise of the sensor.
    means[b] = x[b]! - y;
    covariances.data[b] = p[b]! + r[b]!;
  }
  using predicted = await MultivariateNormalBatch.fromCovariance({ device, dtype: 'float32', means, covariances });
  using surprise = await predicted.logPdf([0]);
  for (let b = 0; b < size; b++) {
    const [residual, s] = [y - x[b]!, p[b]! + r[b]!];
    const textbook = -(residual ** 2 / s + Math.log(2 * Math.PI * s)) / 2;
    apart = Math.max(apart, Math.abs(surprise.data[b]! - textbook) / (1 + Math.abs(textbook)));
    scores[b]! += surprise.data[b]!;
    const [gain, turn] = [p[b]! / s, c[b]! / s];
    x[b]! += gain * residual;
    u[b]! += turn * residual;
    v[b]! -= turn * c[b]!;
    c[b]! *= 1 - gain;
    p[b]! *= 1 - gain;
  }
}
const each = ((performance.now() - began) / steps).toFixed(1);
console.log(`bank     ${size} filters, ${steps} steps, ${each} ms a step`);

const best = scores.indexOf(scores.reduce((most, score) => Math.max(most, score)));
console.log(
  `best     pushed with ${q[best]!.toPrecision(2)} (${trueQ}), seen with ${r[best]!.toPrecision(2)} (${trueR})`,
);
tellWithin('log densities, relative to the formula', apart, 0, 1e-4);
// 200 steps say little of the push, more of the sensor: within a factor of 6 and of 2.
tellWithin('push, as a logarithm', Math.log(q[best]! / trueQ), 0, Math.log(6));
tellWithin('sensor, as a logarithm', Math.log(r[best]! / trueR), 0, Math.log(2));
drawScores();

function simulated(): number[] {
  const covariance = [
    [trueQ / 3, trueQ / 2],
    [trueQ / 2, trueQ],
  ];
  using push = MultivariateNormal.fromCovarianceSync({ device, covariance });
  using slip = MultivariateNormal.fromDiagonalSync({ device, variances: [trueR] });
  const slips = slip.sampleSync(steps, { seed: 1965, stream: 1 });
  let [at, speed] = [0, 1];
  return push
    .sampleSync(steps, { seed: 1965 })
    .toArray()
    .map(([jump, change], k) => {
      at += speed + jump!;
      speed += change!;
      return at + slips.get(k, 0);
    });
}

/** The root of how likely each guess is beside the best: q grows to the right, r downwards; the truth is the middle. */
function drawScores(): void {
  const zoom = 4;
  const data = Uint8Array.from({ length: size * zoom ** 2 }, (_, at) => {
    const row = Math.floor(at / (side * zoom) / zoom);
    const b = row * side + Math.floor((at % (side * zoom)) / zoom);
    return Math.round(255 * Math.exp((scores[b]! - scores[best]!) / 2));
  });
  writePicture('kalman-bank', { width: side * zoom, height: side * zoom, channels: 1, data });
}
