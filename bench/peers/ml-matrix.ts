import type { Real } from '../../lib/dtype.ts';
import type { Contender, Problem } from '../contender.ts';
import { absentPeer } from './absent-peer.ts';
import { inProcessPeer, millisecondsOf, type Run } from './in-process-peer.ts';
import { npmPackage } from './npm-package.ts';
import type { PeerLimits } from './peer-limits.ts';

interface Matrix {
  set(row: number, column: number, value: number): this;
  mmul(other: Matrix): Matrix;
  add(other: Matrix): this;
  to1DArray(): number[];
}

/** What we use of the package. */
interface MlMatrix {
  readonly Matrix: new (rows: number, columns: number) => Matrix;
  readonly CholeskyDecomposition: new (a: Matrix) => { readonly lowerTriangularMatrix: Matrix };
}

// A size at which the package shows its rate within milliseconds.
const trial = 128;

/** npm's ml-matrix: plain JavaScript, float64. It draws no normals. */
export function mlMatrix(limits: PeerLimits): Contender {
  const found = npmPackage('ml-matrix');
  if (typeof found === 'string') return absentPeer('ml-matrix', found);
  const library = found.exports as MlMatrix;
  // Measured now and not in a case, so that it does not count as preparation of a case.
  const rates = ratesOf(library);
  return inProcessPeer(
    {
      name: 'ml-matrix',
      version: found.version,
      prepare: (problem) => prepare(library, problem),
      estimate: ({ suite, dimension }) => {
        const scale = ((dimension ?? 0) / trial) ** 3;
        if (suite === 'matrix-product') return scale * rates.product;
        return suite === 'cholesky' || suite === 'transform-normal' ? scale * rates.cholesky : 0;
      },
    },
    limits,
  );
}

/** Seconds at the size of the trial. */
interface Rates {
  readonly product: number;
  readonly cholesky: number;
}

function ratesOf({ Matrix, CholeskyDecomposition }: MlMatrix): Rates {
  const values = Float32Array.from({ length: trial * trial }, (_, i) => (i % (trial + 1) === 0 ? 2 : 1));
  const a = matrixOf(Matrix, values, trial);
  const seconds = (once: () => void) => {
    once(); // compiles
    return millisecondsOf(once, 3) / 3000;
  };
  return { product: seconds(() => a.mmul(a)), cholesky: seconds(() => new CholeskyDecomposition(a)) };
}

function matrixOf(Matrix: MlMatrix['Matrix'], values: Real, columns: number): Matrix {
  const matrix = new Matrix(values.length / columns, columns);
  for (const [i, value] of values.entries()) matrix.set(Math.floor(i / columns), i % columns, value);
  return matrix;
}

function prepare({ Matrix, CholeskyDecomposition }: MlMatrix, problem: Problem): Run | undefined {
  const n = problem.dimension!;
  const inputs = problem.inputs();
  const square = (name: string) => matrixOf(Matrix, inputs[name]!, n);
  const column = (name: string) => matrixOf(Matrix, inputs[name]!, 1);
  const lower = (covariance: Matrix) => new CholeskyDecomposition(covariance).lowerTriangularMatrix;
  const runOf = (once: () => Matrix): Run => ({ once, result: () => Float64Array.from(once().to1DArray()) });
  switch (problem.suite) {
    case 'matrix-product': {
      const [a, b] = [square('a'), square('b')];
      return runOf(() => a.mmul(b));
    }
    case 'matrix-vector': {
      const [a, z] = [square('a'), column('z')];
      return runOf(() => a.mmul(z));
    }
    case 'cholesky': {
      const covariance = square('covariance');
      return runOf(() => lower(covariance));
    }
    case 'transform-normal': {
      const [mean, covariance, z] = [column('mean'), square('covariance'), column('z')];
      return runOf(() => lower(covariance).mmul(z).add(mean));
    }
    case 'transform-normal-factored': {
      const [mean, factor, z] = [column('mean'), square('factor'), column('z')];
      return runOf(() => factor.mmul(z).add(mean));
    }
    default:
      return undefined;
  }
}
