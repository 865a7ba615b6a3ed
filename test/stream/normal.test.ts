// The normal stream is normal and independent, as far as 10^7 draws show, or 10^8:
//
//   node --import tsx test/stream/normal.test.ts all
//
// Seeds are fixed, so a test that has passed always passes. When the seeds were chosen, a correct stream would have
// failed each check with the probability `alarm`.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Dtype, Real } from '../../lib/dtype.ts';
import { normalCounter, type Word64 } from '../../lib/stream/counter.ts';
import { noCpu, openCpuBackend } from '../harness/cpu-backend.ts';
import { referenceNormals } from '../harness/reference-normals.ts';
import { type Check, correlationChecks, StreamStatistics } from '../harness/stream-statistics.ts';

const alarm = 1e-6;
const pieceLength = 1 << 20;
// native/normal-bits.test.ts compares all bits, so a tenth of the draws is enough to see a change.
const fewer = process.argv[2] === 'all' ? 1 : 10;

const backend = noCpu === '' ? openCpuBackend(0) : undefined;
test.after(() => backend?.close());

function draw(dtype: Dtype, count: number, seed: Word64, stream: Word64, first: number): Real {
  if (backend === undefined) return referenceNormals(dtype, count, seed, stream, first);
  const out = dtype === 'float32' ? new Float32Array(count) : new Float64Array(count);
  const encoder = backend.encoder();
  encoder.fillNormal(out, normalCounter(seed, stream, first));
  encoder.commitSync();
  return out;
}

function pass(checks: readonly Check[], what: string): void {
  const [worst] = [...checks].sort((a, b) => a.p - b.p);
  console.log(`${what}: ${checks.length} checks, least p ${worst!.p.toPrecision(2)} (${worst!.name})`);
  for (const { name, p } of checks) assert.ok(p >= alarm, `${what}: ${name} has p (${p}).`);
}

for (const [dtype, count, largest] of [
  ['float32', 1e8 / fewer, 6.7638],
  ['float64', 1e7 / fewer, 9.4926],
] as const)
  test(`${dtype}: Moments, histogram, tails, lanes and neighbours fit independent normals.`, () => {
    const statistics = new StreamStatistics();
    for (let first = 0; first < count; first += pieceLength)
      statistics.add(draw(dtype, Math.min(pieceLength, count - first), 20261121, 0, first));
    assert.ok(statistics.largest < largest);
    pass(statistics.checks(), `${dtype}, ${count} draws`);
  });

// Key and counter that differ in one low bit, or in a high word only.
const others: readonly (readonly [seed: Word64, stream: Word64])[] = [
  [7, 1],
  [7, 2 ** 32],
  [7, 2n ** 63n],
  [6, 0],
  [8, 0],
  [7 + 2 ** 32, 0],
  [0, 7],
];
for (const dtype of ['float32', 'float64'] as const)
  test(`${dtype}: Streams of one seed, and of neighbouring seeds, are independent.`, () => {
    const count = (dtype === 'float32' ? 1e7 : 2e6) / fewer;
    const one = draw(dtype, count, 7, 0, 0);
    const checks = others.flatMap(([seed, stream]) =>
      correlationChecks(`seed ${seed}, stream ${stream}`, one, draw(dtype, count, seed, stream, 0)),
    );
    pass(checks, `${dtype}, ${count} draws of (seed 7, stream 0) against ${others.length} others`);
  });

// A test that never failed proves little, so these faults must show in two million draws.
const faults: readonly (readonly [name: string, check: string, spoil: (z: Real) => Real])[] = [
  ['a scale of 1.005', 'moment 2', (z) => z.map((x) => 1.005 * x)],
  ['tails that end at 4', 'above 4', (z) => z.map((x) => Math.max(-4, Math.min(4, x)))],
  ['every hundredth draw a copy of the last but two', 'lag 3', (z) => z.map((x, i) => (i % 100 === 3 ? z[i - 3]! : x))],
  ['one sign for a whole block', 'lanes 1 and 3, chi-squared', (z) => z.map((x, i) => x * Math.sign(z[i & ~3]! * x))],
  [
    'signs that go up and down',
    'lag 1',
    (z) => z.map((x, i) => (i % 100 === 1 ? -Math.abs(x) * Math.sign(z[i - 1]!) : x)),
  ],
  ['radii of neighbours in step', 'lag 4, squares', (z) => z.map((x, i) => (i % 100 === 4 ? -z[i - 4]! : x))],
  ['values rounded to 1/64', 'chi-squared, 65,536 cells', (z) => z.map((x) => Math.round(64 * x) / 64)],
  ['a shift of 0.005', 'Kolmogorov-Smirnov', (z) => z.map((x) => x + 0.005)],
];
for (const [fault, expected, spoil] of faults)
  test(`The checks find ${fault}.`, () => {
    const statistics = new StreamStatistics();
    for (let piece = 0; piece < 2; piece++)
      statistics.add(spoil(draw('float32', pieceLength, 1, 0, piece * pieceLength)));
    const seen = statistics.checks().filter(({ p }) => p < alarm);
    assert.ok(
      seen.some(({ name }) => name === expected),
      `seen: (${seen.map(({ name }) => name).join('; ')})`,
    );
  });

test.run();
