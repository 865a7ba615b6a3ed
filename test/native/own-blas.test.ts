// Draws by our own products: an entry is one sum in one order, so neither threads nor blocks leave a trace in its bits.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { onNative } from '../harness/on-native.ts';

const env: NodeJS.ProcessEnv & { COVARIUM_BLAS?: string } = process.env;
env.COVARIUM_BLAS = 'none'; // read as a device is opened

const count = 1000;
// Sixteen rows or fewer are multiplied one by one, in another order.
const cuts = [[count], [300, 700], [17, 283, 700], [500, 500]];

for (const dtype of ['float32', 'float64'] as const)
  for (const n of [17, 100, 300])
    onNative(`${dtype}, n = ${n}: draws have the same bits with any number of threads and any large pieces.`, () => {
      const Values = dtype === 'float32' ? Float32Array : Float64Array;
      const entries = Float64Array.from({ length: n * n }, (_, at) => {
        const apart = Math.abs(Math.floor(at / n) - (at % n));
        return Math.exp(-apart / 10) + (apart === 0 ? 0.1 : 0);
      });
      const covariance = Matrix.from(entries, { columns: n });
      let first: Float32Array | Float64Array | undefined;
      for (const threads of [1, 2, 3]) {
        using device = openDevice('cpu', { threads });
        assert.is(device.name, 'Built-in BLAS');
        using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance });
        for (const pieces of cuts) {
          const draws = new Values(count * n);
          let firstRow = 0;
          for (const rows of pieces) {
            const out = draws.subarray(firstRow * n, (firstRow + rows) * n) as typeof draws;
            normal.sampleSync(rows, { seed: 1, firstRow, out });
            firstRow += rows;
          }
          first ??= draws;
          assert.ok(
            Buffer.compare(new Uint8Array(draws.buffer), new Uint8Array(first.buffer)) === 0,
            `${threads}: ${pieces}`,
          );
        }
      }
    });

test.run();
