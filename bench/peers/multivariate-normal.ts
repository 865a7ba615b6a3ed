import type { Contender, Problem } from '../contender.ts';
import { absentPeer } from './absent-peer.ts';
import { inProcessPeer, millisecondsOf, type Run } from './in-process-peer.ts';
import { npmPackage } from './npm-package.ts';
import type { PeerLimits } from './peer-limits.ts';

interface Distribution {
  sample(): number[];
}

/** The package's export. Calling it computes the factor by a singular value decomposition. */
type MultivariateNormal = (mean: number[], covariance: number[][]) => Distribution;

// A dimension at which the package shows its rates within milliseconds.
const trial = 32;

/** npm's multivariate-normal: one draw a call, from Math.random, float64. */
export function multivariateNormal(limits: PeerLimits): Contender {
  const found = npmPackage('multivariate-normal');
  if (typeof found === 'string') return absentPeer('multivariate-normal', found);
  const { default: make } = found.exports as { default: MultivariateNormal };
  // Measured now and not in a case, so that it does not count as preparation of a case.
  const rates = ratesOf(make);
  return inProcessPeer(
    {
      name: 'multivariate-normal',
      version: found.version,
      prepare: (problem) => prepare(make, problem),
      estimate: (problem) => {
        if (problem.suite !== 'sampling') return 0;
        const scale = problem.dimension! / trial;
        // The factor is made before the first draw even if it is kept.
        return rates.factor * scale ** 3 + problem.count! * rates.draw * scale ** 2;
      },
    },
    limits,
  );
}

/** Seconds at the dimension of the trial. */
interface Rates {
  readonly factor: number;
  readonly draw: number;
}

function ratesOf(make: MultivariateNormal): Rates {
  const mean = new Array<number>(trial).fill(0);
  // Its iteration fails on equal eigenvalues; these differ.
  const covariance = mean.map((_, i) => mean.map((_, j) => 0.9 ** Math.abs(i - j)));
  const seconds = (once: () => void, runs: number) => {
    once(); // compiles
    return millisecondsOf(once, runs) / (1000 * runs);
  };
  const normal = make(mean, covariance);
  return { factor: seconds(() => make(mean, covariance), 3), draw: seconds(() => normal.sample(), 20) };
}

function prepare(make: MultivariateNormal, problem: Problem): Run | undefined {
  if (problem.suite !== 'sampling') return undefined;
  const { mean, covariance } = problem.inputs();
  const n = problem.dimension!;
  const center = Array.from(mean!);
  const rows = center.map((_, i) => Array.from(covariance!.subarray(i * n, (i + 1) * n)));
  const draws = (normal: Distribution, count: number) => {
    const drawn: number[][] = [];
    for (let i = 0; i < count; ++i) drawn.push(normal.sample());
    return drawn;
  };
  const kept = problem.case === 'factor kept' ? make(center, rows) : undefined;
  const normal = () => kept ?? make(center, rows);
  return {
    once: () => void draws(normal(), problem.count!),
    result: (most) => Float64Array.from(draws(normal(), Math.min(problem.count!, most)).flat()),
  };
}
