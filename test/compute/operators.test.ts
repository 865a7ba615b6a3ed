// Operators mean the same on every device: random programs on each device, compared with the reference device.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, f32, i32, input, openDevice, output, u32, type WrittenNumbers } from '../../lib/index.ts';
import { kindsHere, onEveryDevice } from '../harness/every-device.ts';
import { randomBody } from '../harness/random-programs.ts';

const edges = {
  f32: [
    0,
    -0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.49999997,
    3.25,
    1e30,
    -1e30,
    8388609,
    1e-6,
    2147483648,
    -2147483648,
    4294967296,
    Number.POSITIVE_INFINITY,
    Number.NaN,
  ],
  i32: [
    0, 1, -1, 2, -2, 7, -7, 31, 32, 33, 255, 65536, -65536, 2147483647, -2147483648, 46341, -46341, 123456789, 3, -3,
  ],
};
const n = edges.f32.length ** 2;
const at = (list: readonly number[], i: number) => list[i % list.length]!;
const given = {
  a: Float32Array.from({ length: n }, (_, i) => at(edges.f32, i)),
  b: Float32Array.from({ length: n }, (_, i) => at(edges.f32, Math.floor(i / edges.f32.length))),
  i: Int32Array.from({ length: n }, (_, i) => at(edges.i32, i + Math.floor(i / 7))),
  u: Uint32Array.from({ length: n }, (_, i) => at(edges.i32, Math.floor(i / 3))),
};

/** The results of functions for all values, one row for each value; the functions are in one kernel. */
async function resultsOn(device: Device, bodies: readonly string[], row?: number): Promise<Float32Array> {
  const uses = Object.fromEntries(
    bodies.map((body, j) => [`p${j}`, new Function('a', 'b', 'i', 'u', body) as () => number]),
  );
  const calls = bodies.map((_, j) => `out[x * ${bodies.length} + ${j}] = p${j}(a[x], b[x], i[x], u[x]);`);
  const text = new Function('{ a, b, i, u, out }', '{ x }', calls.join('\n')) as () => void;
  const kernel = await device.compute(
    { a: input(f32), b: input(f32), i: input(i32), u: input(u32), out: output(f32) },
    text,
    { name: 'programs', uses },
  );
  const count = row === undefined ? n : 1;
  const from = row ?? 0;
  const [a, b] = [given.a.subarray(from, from + count), given.b.subarray(from, from + count)];
  const [i, u] = [given.i.subarray(from, from + count), given.u.subarray(from, from + count)];
  const out = new Float32Array(count * bodies.length);
  await kernel.run({ grid: count, arguments: { a, b, i, u, out } });
  return out;
}

/** True if a program computes numbers below 2^-126, which the threads of other devices replace by 0. */
async function meetsSubnormals(body: string, row: number): Promise<boolean> {
  using device = openDevice('reference');
  const { fround } = Math;
  let met = false;
  Math.fround = (value) => {
    const rounded = fround(value);
    met ||= rounded !== 0 && Math.abs(rounded) < 2 ** -126;
    return rounded;
  };
  try {
    await resultsOn(device, [body], row);
    return met;
  } finally {
    Math.fround = fround;
  }
}

// COVARIUM_TEST_ROUNDS=200 tries 10,000.
const { COVARIUM_TEST_ROUNDS: rounds = '1' } = process.env;
const together = 50;

for (const kind of kindsHere.filter((each) => each !== 'reference'))
  test(`${kind}: ${together * Number(rounds)} random programs give the bits of plain TypeScript.`, async () => {
    using device = openDevice(kind);
    using reference = openDevice('reference');
    let subnormal = 0;
    for (let round = 0; round < Number(rounds); round++) {
      const bodies = Array.from({ length: together }, (_, j) => randomBody(round * together + j + 1));
      const [expected, actual] = [await resultsOn(reference, bodies), await resultsOn(device, bodies)];
      const left = new Set<number>();
      for (let at = 0; at < actual.length; at++) {
        const [j, row] = [at % together, Math.floor(at / together)];
        if (Object.is(actual[at], expected[at]) || left.has(j)) continue;
        if (await meetsSubnormals(bodies[j]!, row)) {
          left.add(j);
          continue;
        }
        const values = Object.entries(given).map(([name, list]) => `${name} = ${list[row]}`);
        assert.unreachable(
          `Program ${round * together + j + 1} at ${values.join(', ')} gives ${actual[at]}, not ${expected[at]}:\n${bodies[j]}`,
        );
      }
      subnormal += left.size;
    }
    console.log(`${kind}: (${subnormal}) programs meet numbers below 2^-126 and are compared up to there`);
    assert.ok(subnormal <= 0.05 * together * Number(rounds), 'few programs meet subnormal numbers');
  });

/** The results of an expression of a, b, i and u, beside JavaScript's. */
onEveryDevice('whole numbers wrap, divide and shift as in JavaScript.', async (device) => {
  const cases: readonly (readonly [text: string, expected: (i: number, j: number) => number])[] = [
    ['i + j', (i, j) => (i + j) | 0],
    ['i - j', (i, j) => (i - j) | 0],
    ['i * j', (i, j) => Math.imul(i, j)],
    ['Math.trunc(i / j)', (i, j) => Math.trunc(i / j) | 0],
    ['(i / j) | 0', (i, j) => (i / j) | 0],
    ['Math.floor(i / j)', (i, j) => Math.floor(i / j) | 0],
    ['i % j', (i, j) => (i % j) | 0],
    ['i << j', (i, j) => i << j],
    ['i >> j', (i, j) => i >> j],
    ['i32(i >>> j)', (i, j) => (i >>> j) | 0],
    ['Math.abs(i)', (i) => Math.abs(i) | 0],
    ['Math.sign(i)', (i) => Math.sign(i)],
    ['Math.imul(i, j)', (i, j) => Math.imul(i, j)],
    ['Math.clz32(i)', (i) => Math.clz32(i)],
    ['-i ^ ~j', (i, j) => -i ^ ~j],
    ['i32(-u32(i))', (i) => -i | 0],
    ['i32(Math.trunc(u32(i) / u32(j)))', (i, j) => Math.trunc((i >>> 0) / (j >>> 0)) | 0],
    ['i32(u32(i) % u32(j))', (i, j) => ((i >>> 0) % (j >>> 0)) | 0],
    ['i32(i < j) - i32(i === j)', (i, j) => Number(i < j) - Number(i === j)],
  ];
  const lines = cases.map(([text], k) => `out[x * ${cases.length} + ${k}] = ${text};`);
  const body = `const i = a[x]; const j = b[x];\n${lines.join('\n')}`;
  const text = new Function('{ a, b, out }', '{ x }', body) as () => void;
  const kernel = await device.compute({ a: input(i32), b: input(i32), out: output(i32) }, text);
  const count = edges.i32.length ** 2;
  const a = Int32Array.from({ length: count }, (_, k) => at(edges.i32, k));
  const b = Int32Array.from({ length: count }, (_, k) => at(edges.i32, Math.floor(k / edges.i32.length)));
  const out = new Int32Array(count * cases.length);
  await kernel.run({ grid: count, arguments: { a, b, out } });
  cases.forEach(([name, expected], k) => {
    for (let row = 0; row < count; row++)
      assert.is(out[row * cases.length + k], expected(a[row]!, b[row]!) + 0, `${name} of ${a[row]}, ${b[row]}`);
  });
});

onEveryDevice('Powers of 1 and -1, and powers with a NaN exponent, equal those of Math.pow.', async (device) => {
  const kernel = await device.compute(
    { a: input(f32), b: input(f32), out: output(f32) },
    ({ a, b, out }: { a: WrittenNumbers; b: WrittenNumbers; out: WrittenNumbers }, { x }) => {
      out[x] = a[x]! ** b[x]!;
    },
  );
  const numbers = [1, -1, 2, -2, 0.5, 0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  // What minifiers make of Math.pow, perhaps also of the call above.
  const power = await device.compute(
    { a: input(f32), b: input(f32), out: output(f32) },
    new Function('{ a, b, out }', '{ x }', 'out[x] = a[x] ** b[x]; out[x] **= 2 ** 1 - 1;') as () => void,
  );
  const a = Float32Array.from({ length: numbers.length ** 2 }, (_, k) => at(numbers, k));
  const b = Float32Array.from(a, (_, k) => at(numbers, Math.floor(k / numbers.length)));
  const [out, again] = [new Float32Array(a.length), new Float32Array(a.length)];
  await kernel.run({ grid: a.length, arguments: { a, b, out } });
  await power.run({ grid: a.length, arguments: { a, b, out: again } });
  assert.equal([...again], [...out]);
  a.forEach((base, k) => {
    const expected = Math.fround(base ** b[k]!);
    const isNear = Object.is(out[k], expected) || Math.abs(out[k]! - expected) <= 1e-6 * Math.abs(expected);
    assert.ok(isNear, `${base} ** ${b[k]}: ${out[k]}, ${expected}`);
  });
});

onEveryDevice('fma rounds once.', async (device) => {
  const kernel = await device.compute(
    { a: input(f32), b: input(f32), c: input(f32), out: output(f32) },
    (
      { a, b, c, out }: { a: WrittenNumbers; b: WrittenNumbers; c: WrittenNumbers; out: WrittenNumbers },
      { x, fma },
    ) => {
      out[x] = fma(a[x]!, b[x]!, c[x]!);
    },
  );
  // (1 + 2^-12)^2 - 1 - 2^-11 = 2^-24; and a sum that float64 rounds to the middle between two float32.
  const a = Float32Array.of(1 + 2 ** -12, 1 + 2 ** -12, 3, 2 ** -60, -(2 ** -60), 1);
  const b = Float32Array.of(1 + 2 ** -12, 1 + 2 ** -12, 5, 1, 1, Number.POSITIVE_INFINITY);
  const c = Float32Array.of(-1 - 2 ** -11, 0, 7, 1, 1, 1);
  const out = new Float32Array(6);
  await kernel.run({ grid: 6, arguments: { a, b, c, out } });
  assert.equal([...out], [2 ** -24, Math.fround((1 + 2 ** -12) ** 2), 22, 1, 1, Number.POSITIVE_INFINITY]);
  const middle = new Float32Array(2);
  const tiny = 2 ** -80;
  await kernel.run({
    grid: 2,
    arguments: { a: Float32Array.of(tiny, -tiny), b: [1, 1], c: Float32Array.of(1 + 2 ** -23, 1), out: middle },
  });
  assert.equal([...middle], [1 + 2 ** -23, 1]);
});

onEveryDevice('exp, sin and similar functions are within a few units in the last place.', async (device) => {
  const names = [
    'exp',
    'log',
    'log2',
    'log10',
    'sin',
    'cos',
    'tan',
    'asin',
    'acos',
    'atan',
    'sinh',
    'cosh',
    'tanh',
  ] as const;
  const body = names.map((name, k) => `out[x * ${names.length} + ${k}] = Math.${name}(a[x]);`).join('\n');
  const text = new Function('{ a, out }', '{ x }', body) as () => void;
  const kernel = await device.compute({ a: input(f32), out: output(f32) }, text);
  const a = Float32Array.from({ length: 1000 }, (_, k) => (k + 1) / 1001);
  const out = new Float32Array(a.length * names.length);
  await kernel.run({ grid: a.length, arguments: { a, out } });
  names.forEach((name, k) => {
    a.forEach((value, row) => {
      const [actual, exact] = [out[row * names.length + k]!, Math[name](value)];
      assert.ok(
        Math.abs(actual - exact) <= 4 * 2 ** -23 * Math.abs(exact),
        `${name}(${value}) = ${actual}, not ${exact}`,
      );
    });
  });
});

onEveryDevice(
  'A logarithm, power or angle of a subnormal number is that of the number, or that of 0.',
  async (device) => {
    const functions: readonly (readonly [text: string, exact: (x: number) => number])[] = [
      ['log(x)', Math.log],
      ['log2(x)', Math.log2],
      ['log10(x)', Math.log10],
      ['pow(x, 0.1)', (x) => x ** 0.1],
      ['pow(x, -3)', (x) => x ** -3],
      ['atan2(x, x)', (x) => Math.atan2(x, x)],
      ['atan2(x, -1)', (x) => Math.atan2(x, -1)],
      ['atan2(1, x)', (x) => Math.atan2(1, x)],
    ];
    for (const [text, exact] of functions) {
      const kernel = await device.elementwise('x', `out = Math.${text}`);
      const inputs: (Float32Array | Float64Array)[] = [Float32Array.of(1e-40, -1e-40, 2 ** -149, 0, -0)];
      if (device.dtypes.includes('float64')) inputs.push(Float64Array.of(1e-310, -1e-310, 2 ** -1074, 0, -0));
      for (const numbers of inputs) {
        const { data } = await kernel.run([numbers]);
        numbers.forEach((x, k) => {
          const isNear = (y: number) => Object.is(data[k], y) || Math.abs(data[k]! - y) <= 1e-6 * Math.abs(y);
          const [own, zero] = [x, x < 0 || Object.is(x, -0) ? -0 : 0].map((each) => exact(each));
          const round = numbers instanceof Float32Array ? Math.fround : (y: number) => y;
          assert.ok(isNear(round(own!)) || isNear(round(zero!)), `${text} of ${x}: ${data[k]}`);
        });
      }
    }
  },
);

test.run();
