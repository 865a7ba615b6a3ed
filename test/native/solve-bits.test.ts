// Our own triangular solves: their bits depend neither on the instruction set nor on threads, and the densities, which
// have solves of their own for many rows, have the same.
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, openDevice, Vector } from '../../lib/index.ts';
import { onNative } from '../harness/on-native.ts';

const env: NodeJS.ProcessEnv & { COVARIUM_BLAS?: string } = process.env;
env.COVARIUM_BLAS = 'none'; // read when a device is opened; otherwise a Mac uses Accelerate's solves

// Neither is a multiple of a vector, a tile or a block.
const [n, count] = [149, 77];

// From covarium 0.1.0, before its solves became faster.
const known = {
  float32: { forward: 'b6ab6a7cdc4116e3', backward: 'ede0a873e1a7c2f8' },
  float64: { forward: '913cfa8e8f0b8f36', backward: 'dd65211ec590bb9b' },
};

for (const dtype of ['float32', 'float64'] as const)
  for (const way of ['forward', 'backward'] as const)
    onNative(`${dtype}: a ${way} solve has the same bits as in earlier versions.`, () => {
      const Values = dtype === 'float32' ? Float32Array : Float64Array;
      // Numbers from -1/2 to 1/2 of a linear congruential generator.
      let state = 1;
      const next = () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32 - 0.5;
      };
      const factor = new Values(n * n).map((_, at) => (at % (n + 1) === 0 ? 2 : 0) + next() / 4);
      const given = new Values(count * n).map(next);
      for (const threads of [1, 3]) {
        using device = openDevice('cpu', { threads });
        const rows = Matrix.from(given.slice(), { columns: n });
        const options = { transposed: way === 'backward' };
        device
          .commandBuffer()
          .triangularSolve(Matrix.from(factor, { columns: n }), rows, options)
          .commitSync();
        const digest = createHash('sha256')
          .update(rows.data as Float32Array)
          .digest('hex');
        assert.is(digest.slice(0, 16), known[dtype][way], `${threads} threads`);
      }
    });

for (const dtype of ['float32', 'float64'] as const)
  onNative(`${dtype}: log densities have the bits of centred rows, a solve and squared norms.`, () => {
    const Values = dtype === 'float32' ? Float32Array : Float64Array;
    const constant = -1.25;
    using device = openDevice('cpu', { threads: 2 });
    for (const n of [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 128, 129])
      for (const count of [1, 31, 32, 77, 1000]) {
        const factor = new Values(n * n).map((_, at) => (at % (n + 1) === 0 ? 1.5 : Math.sin(at) / n));
        const lower = Matrix.from(factor, { columns: n });
        const mean = Vector.from(new Values(n).map((_, j) => Math.cos(j) * 3));
        const rows = Matrix.from(
          new Values(count * n).map((_, at) => Math.sin(at * at) * 5),
          { columns: n },
        );
        const [norms, densities] = [device.vector(count, { dtype }), device.vector(count, { dtype })];
        device
          .commandBuffer()
          .logDensity(lower, mean, rows, densities, { constant })
          .addRow(rows, mean, -1)
          .triangularSolve(lower, rows)
          .squaredNorms(rows, norms)
          .commitSync();
        const expected = new Values(norms.data).map((norm) => constant - norm / 2);
        assert.equal(densities.data, expected, `n = ${n}, ${count} rows`);
      }
  });

test.run();
