// Distances whose squares underflow.
import { test } from 'uvu';
import { hellinger, hellingerSync, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { kindsHere } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';

const dense = [
  [2, 0, 0],
  [1, 3, 0],
  [0.3, -1, 0.7],
];
// Of mpmath with 700 digits: the distances below, divided by e, for each e.
const moved = 1.0749611077708603;
const correlated = 1.1180339887498949;

for (const kind of kindsHere)
  test(`${kind}: a minute Hellinger distance has its digits, in either order.`, async () => {
    using device = openDevice(kind);
    if (!device.dtypes.includes('float64')) return;
    const made = (mean: readonly number[], factor: readonly (readonly number[])[]) =>
      MultivariateNormal.fromCholeskySync({ device, dtype: 'float64', mean, factor });
    using here = made([0, 0, 0], dense);
    using standard = made(
      [0, 0],
      [
        [1, 0],
        [0, 1],
      ],
    );
    for (const e of [1e-130, 1e-139, 1e-145, 1e-155, 1e-170, 1e-300]) {
      using there = made([e, -2 * e, 3 * e], dense);
      using other = made(
        [3 * e, 0],
        [
          [1, 0],
          [e, 1],
        ],
      );
      near([(await hellinger(here, there)) / e, hellingerSync(there, here) / e], [moved, moved], 1e-14, `${e}`);
      const both = [hellingerSync(standard, other) / e, hellingerSync(other, standard) / e];
      near(both, [correlated, correlated], 1e-14, `${e}`);
    }
  });

test.run();
