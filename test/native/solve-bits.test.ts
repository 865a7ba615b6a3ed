// Our own triangular solves: their bits depend neither on the instruction set nor on threads.
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, openDevice } from '../../lib/index.ts';
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

test.run();
