// Eigenvalues by NVIDIA's library on this machine's GPU, beside LAPACK's on its CPU, from and to host memory: how
// long they take, and how much the values differ.
//
//     node test/real-gpu/eigen.mjs
import { Matrix } from '../../dist/lib/index.js';
import { best, covarianceOf, devices } from './measure.mjs';

for (const dtype of ['float32', 'float64'])
  for (const n of [100, 200, 300, 500, 1000, 2000, 4000]) {
    const Kind = dtype === 'float32' ? Float32Array : Float64Array;
    const matrix = Matrix.from(Kind.from(covarianceOf(n).data), { columns: n });
    const values = [];
    const times = [];
    for (const device of devices) {
      let named = '';
      const decompose = async () => {
        const made = await matrix.eigh({ device });
        values.push(made.values.data);
        named = made.values.timings.library ?? 'LAPACK';
      };
      times.push(`${device.kind} ${(await best(decompose)).toFixed(1)} ms (${named})`);
    }
    const [here, there] = [values[0], values.at(-1)];
    const apart = here.reduce((most, value, i) => Math.max(most, Math.abs(value - there[i])), 0) / here.at(-1);
    console.log(
      `${dtype} eigenvalues of ${n} x ${n}: ${times.join(', ')}; ${apart.toExponential(1)} of the largest apart`,
    );
  }
