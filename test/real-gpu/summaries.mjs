// Summaries of draws: only the summary is copied to the host, and the quantiles equal those of the CPU, to the bit.
//
//     node test/real-gpu/summaries.mjs
//     python3 test/real-gpu/summaries.py   # PyTorch, by hand
import { MultivariateNormal, MultivariateStudentT } from '../../dist/lib/index.js';
import { best, covarianceOf, devices } from './measure.mjs';

const normalsOf = (n) =>
  devices.map((device) => MultivariateNormal.fromCovarianceSync({ device, covariance: covarianceOf(n) }));
const studentsOf = (n) =>
  devices.map((device) => MultivariateStudentT.fromScaleSync({ device, degreesOfFreedom: 4, scale: covarianceOf(n) }));

for (const [n, count, covariance, of = normalsOf] of [
  [1, 1e7, true],
  [2, 1e7, true],
  [16, 1e7, true],
  [16, 1e8, true],
  [64, 4e6, true],
  [100, 1e6, true],
  [1000, 1e5, true],
  [1000, 1e5, false],
  [16, 1e7, true, studentsOf],
  [100, 1e6, true, studentsOf],
]) {
  const times = [];
  const answers = [];
  for (const normal of of(n)) {
    const wanted = { seed: 1, covariance, quantiles: [0.01, 0.5, 0.99], thresholds: new Float32Array(n).fill(1) };
    const summarize = async () => answers.push(await normal.summarize(count, wanted));
    times.push(`${normal.device.kind} ${(await best(summarize)).toFixed(3)} ms`);
  }
  const [here, there] = [answers[0], answers.at(-1)];
  const isSame = ['quantiles', 'exceedance'].every((name) => `${here[name].data}` === `${there[name].data}`);
  const apart = (name) =>
    here[name].data.reduce((most, value, i) => Math.max(most, Math.abs(value - there[name].data[i])), 0);
  const differences = `${apart('mean').toExponential(1)}${covariance ? `, ${apart('covariance').toExponential(1)}` : ''}`;
  console.log(
    `summary of ${of === normalsOf ? 'a normal' : 'a Student-t'}, D = ${n}, N = ${count}${covariance ? '' : ', without covariance'}: ${times.join(', ')}; quantiles and shares ${isSame ? 'the same' : 'DIFFER'}, sums differ by ${differences}`,
  );
}
for (const device of devices) device.close();
