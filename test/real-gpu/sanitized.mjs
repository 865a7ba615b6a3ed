// Small draws, densities, summaries, factors, products and solves of both types, for NVIDIA's compute-sanitizer:
//
//     npm run build
//     for tool in memcheck racecheck synccheck; do
//       COVARIUM_CUDA_FROM=0 compute-sanitizer --tool $tool node test/real-gpu/sanitized.mjs; done
import { Matrix, MultivariateNormal, MultivariateStudentT, openDevice } from '../../dist/lib/index.js';
import { covarianceOf } from './covariance.mjs';

const device = openDevice('cuda');
for (const dtype of ['float32', 'float64'])
  for (const n of [1, 2, 3, 12, 13, 33, 64, 65, 97, 130, 300]) {
    const covariance = covarianceOf(n);
    const normals = [
      MultivariateNormal.fromCovarianceSync({ device, dtype, covariance, factor: 'gpu' }),
      MultivariateNormal.fromPrecisionSync({ device, dtype, precision: covariance }),
      MultivariateStudentT.fromScaleSync({ device, dtype, scale: covariance, degreesOfFreedom: 3 }),
    ];
    for (const each of normals) {
      const draws = each.sampleSync(301, { seed: n, onDevice: true });
      each.logPdfSync(draws);
      draws.close();
    }
    await normals[0].summarize(1000, { seed: 1, quantiles: [0.1, 0.5] });
    const a = Matrix.from(covariance, { dtype });
    a.multiplySync(a, { device });
    normals[0].scoreInputSync(a);
  }
device.close();
console.log('done');
