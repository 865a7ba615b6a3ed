// The cost and the error of a box probability, for the table of docs/probabilities.md. It is not a test: it takes a
// minute, and its times depend on the machine.
//
//   node --import tsx test/harness/orthant-cost.ts
//
// The orthant of n normals with correlation 1/2 has the probability 1 / (n + 1). Seconds are processor time of all
// threads together.
import { MultivariateNormal, openDevice } from '../../lib/index.ts';

using device = openDevice('reference');
console.log('   n      points    stated error   seconds   standard errors off');
for (const n of [3, 5, 10, 20, 50, 100]) {
  const covariance = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0.5)));
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance, dtype: 'float64' });
  for (const maxPoints of [49_152, 786_432]) {
    const begun = process.cpuUsage();
    const lower = new Float64Array(n);
    const { probability, error } = normal.boxProbabilitySync({ lower, absoluteError: 0, seed: 1, maxPoints });
    const { user, system } = process.cpuUsage(begun);
    const off = (probability - 1 / (n + 1)) / (error / 3);
    const columns = [error.toExponential(1), ((user + system) / 1e6).toPrecision(2), off.toFixed(1)];
    console.log(`${n}`.padStart(4), `${maxPoints}`.padStart(11), ...columns.map((text) => text.padStart(13)));
  }
}
