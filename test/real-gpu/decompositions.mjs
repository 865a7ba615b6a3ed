// QR decompositions and singular values by NVIDIA's library on this machine's GPU, beside LAPACK's on its CPU, from
// and to host memory: how long they take, and how far the factors' product is from the matrix.
//
//     node test/real-gpu/decompositions.mjs [QR,SVD [300,1000]]
import { Matrix } from '../../dist/lib/index.js';
import { best, devices } from './measure.mjs';

const [names = 'QR,SVD', orders = '300,500,1000,2000,4000'] = process.argv.slice(2);
const decompositions = {
  QR: async (matrix, options) => {
    const { q, r } = await matrix.qr(options);
    return { parts: [q, r], timings: r.timings };
  },
  SVD: async (matrix, options) => {
    const { u, s, vt } = await matrix.svd(options);
    const scaled = u.data.map((value, at) => value * s.data[at % s.length]);
    return { parts: [Matrix.from(scaled, { columns: u.columns }), vt], timings: s.timings };
  },
};

for (const name of names.split(','))
  for (const dtype of ['float32', 'float64'])
    for (const n of orders.split(',').map(Number))
      for (const shape of [[n, n], ...(n <= 1000 ? [[4 * n, n]] : [])]) {
        const Kind = dtype === 'float32' ? Float32Array : Float64Array;
        const [rows, columns] = shape;
        const values = Kind.from({ length: rows * columns }, (_, at) => Math.sin(1 + at * 0.7) + Math.cos(at * at));
        const matrix = Matrix.from(values, { columns });
        const told = [];
        for (const device of devices) {
          let made;
          const milliseconds = await best(async () => {
            made = await decompositions[name](matrix, { device });
          });
          const product = made.parts[0].multiplySync(made.parts[1], { device }).data;
          const apart = product.reduce((most, value, at) => Math.max(most, Math.abs(value - values[at])), 0);
          const named = made.timings.library || 'LAPACK';
          told.push(`${device.kind} ${milliseconds.toFixed(1)} ms (${named}, ${apart.toExponential(1)} apart)`);
        }
        console.log(`${dtype} ${name} of ${shape.join(' x ')}: ${told.join(', ')}`);
      }
