// Where lib puts the operands of a commit: a device that wants everything in its own memory gets it there, and all of
// it is released.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Scratch } from '../../lib/command/scratch.ts';
import { MultivariateNormal } from '../../lib/index.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { openPretendGpu } from '../harness/pretend-gpu.ts';
import { throwsCode } from '../harness/throws-code.ts';

const covariance = [
  [4, 2],
  [2, 3],
];
const rows = [
  [1, 2],
  [3, 5],
  [4, 4],
];
const mean = [1, -1];

test('Every operand of every method is in the memory of the device, if the device wants it there.', async () => {
  const { device, commits, strangers } = openPretendGpu();
  const results: { close(): void }[] = [];
  const makers = [
    () => MultivariateNormal.fromCovariance({ device, mean, covariance }),
    () => MultivariateNormal.fromCholesky({ device, mean, factor: covariance }),
    () => MultivariateNormal.fromPrecision({ device, mean, precision: covariance }),
    () => MultivariateNormal.fit({ device, rows }),
    async () => MultivariateNormal.fitSync({ device, rows: rows.map((row) => Float64Array.from(row)) }),
  ];
  for (const make of makers) {
    const normal = await make();
    results.push(normal, await normal.sample(3), normal.sampleSync(3));
    results.push(
      await normal.transform([1, 2]),
      normal.transformSync(rows),
      normal.transformSync(Float64Array.of(1, 2)),
    );
    results.push(await normal.logPdf([1, 2]), normal.logPdfSync(rows));
    results.push(await normal.covariance(), normal.covarianceSync(), await normal.factor(), normal.factorSync());
    for await (const block of normal.blocks(3, { rowsPerBlock: 2 })) assert.ok(block.rows > 0);
  }
  for (const options of [
    { device, covariance },
    { device, mean, covariance },
  ]) {
    results.push(await MultivariateNormal.transform({ ...options, z: [1, 2] }));
    results.push(MultivariateNormal.transformSync({ ...options, z: rows }));
  }
  assert.equal(strangers, []);
  assert.ok(commits.length > 60, `${commits.length} commits`);
  for (const result of results) result.close();
  assert.is(device.memory().liveBytes, 0, 'and all of it is released');
  device.close();
});

test('A refused call leaves nothing in the memory of the device.', async () => {
  const { device } = openPretendGpu();
  const indefinite = [
    [1, 2],
    [2, 1],
  ];
  const failing: (() => unknown)[] = [
    () => MultivariateNormal.fit({ device, rows: [[1], [2], [Number.NaN]] }),
    () => MultivariateNormal.fitSync({ device, rows: [[1], [1], [1]] }),
    () => MultivariateNormal.transform({ device, mean, covariance: indefinite, z: [1, 2] }),
    () => MultivariateNormal.transformSync({ device, mean, covariance: indefinite, z: rows }),
    () => MultivariateNormal.transformSync({ device, mean, covariance, z: [Number.NaN, 2] }),
  ];
  for (const work of failing) {
    await throwsCode((await codeOf(work)) as 'ERR_NOT_FINITE', '', work);
    assert.is(device.memory().liveBytes, 0);
  }
  device.close();
});

onEveryDevice(
  'an array that the device may read is read in place; another one is copied, and the copy is closed.',
  (device) => {
    const scratch = new Scratch(device);
    const before = device.memory().liveBytes;
    const values = Float32Array.of(1, 2);
    assert.is(scratch.input(values, 'float32'), values);
    assert.equal(scratch.reachable, [values]);
    const shared = new Float32Array(new SharedArrayBuffer(8)).fill(3);
    for (const [source, expected] of [
      [Float64Array.of(0.1, 2), [Math.fround(0.1), 2]],
      [shared, [3, 3]],
    ] as const) {
      const copy = scratch.input(source as Float32Array, 'float32');
      assert.is.not(copy.buffer, source.buffer);
      assert.equal([...copy], expected);
    }
    const changed = scratch.copy(values, 'float32');
    changed.fill(9);
    assert.equal([...values], [1, 2]);
    assert.equal([...scratch.zeros('float32', 3)], [0, 0, 0]);
    const large = scratch.zeros('float32', 1 << 19);
    assert.ok(large.every((value) => value === 0));
    assert.ok(device.memory().liveBytes >= before + large.byteLength, 'large results are memory of the device');
    assert.is(scratch.reachable.length, 1);
    scratch.close();
    assert.is(device.memory().liveBytes, before);
  },
);

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  throw new Error('Nothing is refused.');
}

test.run();
