import { bytesOf, type Real, type RealDtype } from '../../lib/dtype.ts';
import { type Device, Matrix, MultivariateNormalBatch, Volume } from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import type { Inputs } from '../inputs.ts';
import { casesOf, type LaidOut, roundingTolerance, type Suite } from '../suite.ts';

const make = 'make';
const draw = 'one draw each';
const weigh = 'log densities';
const dimensions = [2, 4, 8, 16, 32];
const mostEntries = 2 ** 25; // of all covariances

/** The names of all cases. */
const batchCases: readonly string[] = [make, draw, weigh];

/** Many small normals: made at once, one draw of each, and the density of each at a point of its own. */
export const batches: Suite = {
  name: 'batches',
  // It takes up to half a gigabyte for each contender.
  isOnRequest: true,
  problems: ({ dtypes, quick = false }, inputs) =>
    casesOf(batchCases, dtypes).flatMap(({ name, dtype }) =>
      dimensions.map((n) => problemOf(name, dtype, n, Math.min(quick ? 1_000 : 100_000, mostEntries / n ** 2), inputs)),
    ),
  layOut: (problem, device) => laidOut(problem, device),
};

function problemOf(name: string, dtype: RealDtype, n: number, count: number, inputs: Inputs): Problem {
  const square = name === make ? 2 * n * n : (n * (n + 1)) / 2;
  return {
    suite: 'batches',
    case: name,
    dtype,
    dimension: n,
    count,
    work: {
      flops: count * (name === make ? n ** 3 / 3 : n * (n + 1)),
      bytes: bytesOf(dtype) * count * (square + 2 * n),
      normals: name === draw ? count * n : 0,
    },
    inputs: () => inputs.ofBatch(n, count, dtype),
    tolerance: 16 * roundingTolerance(n, dtype),
  };
}

function laidOut(problem: Problem, device: Device): LaidOut {
  const [n, count, dtype] = [problem.dimension!, problem.count!, problem.dtype!];
  const { covariances, means, points } = problem.inputs();
  const options = {
    ...{ device, dtype },
    means: Matrix.from(means!, { columns: n }),
    covariances: Volume.from(covariances!, { width: n, height: n, depth: count }),
  };
  const rows = Matrix.from(points!, { columns: n });
  let batch = MultivariateNormalBatch.fromCovarianceSync(options);
  const out = Volume.from(means!.slice(), { width: n, height: 1, depth: count });
  let densities = batch.logPdfEachSync(rows);
  const runs: Readonly<Record<string, () => undefined>> = {
    [make]: () => {
      batch.close();
      batch = MultivariateNormalBatch.fromCovarianceSync(options);
    },
    [draw]: () => {
      batch.sampleVolumeSync(1, { seed: 42, out });
    },
    [weigh]: () => {
      densities.close();
      densities = batch.logPdfEachSync(rows);
    },
  };
  const results: Readonly<Record<string, () => Real>> = {
    [make]: () => batch.logPdfEachSync(rows).data as Real,
    [draw]: () => out.data as Real,
    [weigh]: () => densities.data as Real,
  };
  return {
    run: runs[problem.case]!,
    result: results[problem.case]!,
    close: () => {
      densities.close();
      batch.close();
    },
  };
}
