// Draws of a Student-t with a location for each row.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Matrix, type MatrixInput, MultivariateNormal, MultivariateStudentT } from '../../lib/index.ts';
import { onEveryType } from '../harness/every-device.ts';
import { near } from '../harness/near.ts';
import { throwsCode } from '../harness/throws-code.ts';

const scale = [
  [4, 2],
  [2, 3],
];
const locations = [
  [1, 2],
  [30, -4],
  [0, 0],
];

onEveryType('each row may have its own location, with the same draw as without.', async (device, dtype, tolerance) => {
  const options = { device, dtype, degreesOfFreedom: 3, scale };
  using student = await MultivariateStudentT.fromScale({ ...options, location: [7, 8] });
  const plain = student.sampleSync(3, { seed: 4 }).toArray();
  const wanted = plain.flatMap(([x, y], r) => [x! - 7 + locations[r]![0]!, y! - 8 + locations[r]![1]!]);
  near((await student.sample(3, { seed: 4, locations })).toArray().flat(), wanted, tolerance);
  near(student.sampleSync(3, { seed: 4, locations }).toArray().flat(), wanted, tolerance);
  assert.equal(student.sampleSync(3, { seed: 4, locations: undefined }).toArray(), plain);
  assert.equal((await student.sample(3, { seed: 4, locations: undefined })).toArray(), plain);
  using origin = await MultivariateStudentT.fromScale(options);
  const zeros = locations.map(() => [0, 0]);
  assert.equal(student.sampleSync(3, { seed: 4, locations: zeros }).data, origin.sampleSync(3, { seed: 4 }).data);
  // The draws may be written over the locations.
  const out = device.matrix(3, 2, { dtype });
  out.data.set(locations.flat());
  await student.sample(3, { seed: 4, locations: out, out });
  near(out.toArray().flat(), wanted, tolerance);
});

onEveryType('rows of later blocks have their own locations, too.', (device, dtype, tolerance) => {
  using student = MultivariateStudentT.fromScaleSync({ device, dtype, degreesOfFreedom: 5, scale });
  const many = Array.from({ length: 5000 }, (_, row) => [row % 7, -(row % 11)]);
  const run = { seed: 1, firstRow: 9 };
  const plain = student.sampleSync(many.length, run).toArray();
  const wanted = plain.flatMap(([x, y], row) => [x! + many[row]![0]!, y! + many[row]![1]!]);
  near(
    student
      .sampleSync(many.length, { ...run, locations: many })
      .toArray()
      .flat(),
    wanted,
    tolerance,
  );
});

onEveryType('with infinitely many degrees of freedom they are the means of a normal, to the bit.', (device, dtype) => {
  const options = { device, dtype, degreesOfFreedom: Number.POSITIVE_INFINITY, scale };
  using student = MultivariateStudentT.fromScaleSync(options);
  using normal = MultivariateNormal.fromCovarianceSync({ device, dtype, covariance: scale });
  const draws = student.sampleSync(3, { seed: 4, locations });
  assert.equal(draws.data, normal.sampleSync(3, { seed: 4, means: locations }).data);
});

onEveryType(
  'input that does not give each row a location is refused, and the distribution goes on.',
  async (device, dtype) => {
    for (const degreesOfFreedom of [3, Number.POSITIVE_INFINITY]) {
      using student = MultivariateStudentT.fromScaleSync({ device, dtype, degreesOfFreedom, scale });
      await throwsCode('ERR_SHAPE', '`locations` has (3) rows', () => student.sample(2, { locations }));
      await throwsCode('ERR_SHAPE', '(1) columns', () => student.sample(1, { locations: [[1]] }));
      const holes = [
        [0, 0],
        [Number.NaN, 0],
      ];
      await throwsCode('ERR_NOT_FINITE', '(1, 0)', () => student.sample(2, { locations: holes }));
      await throwsCode('ERR_UNKNOWN_OPTION', '(means)', () =>
        // @ts-expect-error A Student-t has locations; its means are there for more than one degree of freedom only.
        student.sample(3, { locations, means: locations }),
      );
      for (const given of [{}, { locations }]) {
        const misspelt = { ...given, sed: 1 } as object;
        await throwsCode('ERR_UNKNOWN_OPTION', 'signal, locations)', () => student.sample(3, misspelt));
      }
      await throwsCode('ERR_UNKNOWN_OPTION', '(signal)', () =>
        // @ts-expect-error Nothing can end synchronous work.
        student.sampleSync(3, { locations, signal: AbortSignal.abort() }),
      );
      await throwsCode('ERR_ABORTED', 'enough', () =>
        student.sample(3, { locations, signal: AbortSignal.abort('enough') }),
      );
      assert.is(student.sampleSync(3, { locations }).rows, 3);
    }
    using student = MultivariateStudentT.fromScaleSync({ device, dtype, degreesOfFreedom: 3, scale });
    student.close();
    await throwsCode('ERR_CLOSED', '(2)', () => student.sample(3, { locations }));
  },
);

onEveryType(
  'locations that float32 does not hold are refused, as the means of a normal are.',
  async (device, dtype) => {
    if (dtype !== 'float32') return;
    for (const degreesOfFreedom of [3, Number.POSITIVE_INFINITY]) {
      using student = MultivariateStudentT.fromScaleSync({ device, degreesOfFreedom, scale });
      const sample = (given: MatrixInput) => () => student.sample(2, { seed: 4, locations: given });
      const far = [[0, 0], [1e300, 0]]; // biome-ignore format: rows
      await throwsCode(
        'ERR_NOT_FINITE',
        '`locations` entry (1, 0) is (1e+300), which is infinite in float32',
        sample(far),
      );
      // Steps of 1024, many standard deviations, in rows for which nobody asked for float32.
      const coarse = [[0, 0], [1e10, 0]]; // biome-ignore format: rows
      await throwsCode('ERR_OUT_OF_RANGE', '`locations[2]` is (10000000000)', sample(coarse));
      const asked = await sample(Matrix.from(coarse, { dtype: 'float32' }))();
      assert.is(asked.at(1, 0), 1e10);
    }
  },
);

test.run();
