// Kernels written in TypeScript, from a function to results, on every device.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Device, f32, f64, i32, input, output, type Uses, u8, u32 } from '../../lib/index.ts';
import { kindsHere, onEveryDevice } from '../harness/every-device.ts';
import { throwsCode } from '../harness/throws-code.ts';

onEveryDevice('a kernel is a function of its arguments and its thread.', async (device) => {
  const saxpy = await device.compute({ a: f32, x: input(f32), y: output(f32) }, ({ a, x, y }, { x: i }) => {
    y[i] = a * x[i]! + y[i]!;
  });
  assert.equal(saxpy.argumentNames, ['a', 'x', 'y']);
  const y = Float32Array.of(10, 20, 30);
  await saxpy.run({ grid: 3, arguments: { a: 2, x: [1, 2, 3], y } });
  assert.equal([...y], [12, 24, 36]);
  using matrix = device.matrix(1, 3);
  saxpy.runSync({ grid: 3, arguments: { a: 1, x: y, y: matrix } });
  assert.equal(matrix.toArray(), [[12, 24, 36]]);
  const vector = device.vector(3);
  await device
    .commandBuffer()
    .launch(saxpy, { grid: 3, arguments: { a: 0.5, x: matrix, y: vector } })
    .launch(saxpy, { grid: 3, arguments: { a: 1, x: [1, 1, 1], y: vector } })
    .commit();
  assert.equal(vector.toArray(), [7, 13, 19]);
});

onEveryDevice('parameters may be taken by name, and locals have the types of their values.', async (device) => {
  const kernel = await device.compute({ scale: f32, out: output(f32), counts: output(i32) }, (args, thread) => {
    let sum = 0;
    let steps = 0;
    for (let k = 0; k < 10; k++) {
      if (k === 7) break;
      if (k % 2 === 1) continue;
      sum += k * args.scale;
      steps++;
    }
    const i = thread.y * thread.width + thread.x;
    args.out[i] = sum;
    args.counts[i] = steps * 100 + thread.height * 10 + thread.depth;
  });
  const [out, counts] = [new Float32Array(6), new Int32Array(6)];
  await kernel.run({ grid: [3, 2], arguments: { scale: 0.5, out, counts } });
  assert.equal([...out], new Array(6).fill(6));
  assert.equal([...counts], new Array(6).fill(421));
});

onEveryDevice('threads of a group share memory and wait; atomic functions count.', async (device) => {
  const sums = await device.compute(
    { a: input(i32), out: output(i32), counts: output(u32), most: output(i32) },
    ({ a, out, counts, most }, { x, localX, groupX, groupWidth, shared, barrier, atomicAdd, atomicMax }) => {
      const tile = shared(i32, 64);
      tile[localX] = a[x]!;
      barrier();
      for (let stride = 32; stride > 0; stride >>= 1) {
        if (localX < stride && localX + stride < groupWidth) tile[localX]! += tile[localX + stride]!;
        barrier();
      }
      atomicAdd(counts, a[x]! & 7, 1);
      const before = atomicMax(most, 0, a[x]!);
      if (before > 1_000_000) out[0] = -1;
      if (localX === 0) out[groupX] = tile[0]!;
    },
  );
  const a = Int32Array.from({ length: 200 }, (_, i) => i);
  const [out, counts, most] = [new Int32Array(4), new Uint32Array(8), new Int32Array(1)];
  await sums.run({ grid: 200, threadgroup: 64, arguments: { a, out, counts, most } });
  const expected = [0, 1, 2, 3].map((group) => a.slice(64 * group, 64 * group + 64).reduce((x, y) => x + y, 0));
  assert.equal([...out], expected);
  assert.equal([...counts], new Array(8).fill(25));
  assert.is(most[0], 199);
});

function square(x: number): number {
  return x * x;
}
const norm = (x: number, y: number) => Math.sqrt(square(x) + square(y));
function fill(values: { [i: number]: number }, from: number, count: number) {
  for (let i = 0; i < count; i++) values[i] = from + i;
}

onEveryDevice(
  'functions and numbers of `uses` are available, compiled for each type; each thread has its own arrays.',
  async (device) => {
    const kernel = await device.compute(
      { x: input(f32), out: output(f32), whole: output(i32) },
      ({ x, out, whole }, { x: i, array }) => {
        const own = array(f32, COUNT);
        fill(own, x[i]!, COUNT);
        let sum = 0;
        for (let k = 0; k < COUNT; k++) sum += own[k]!;
        out[i] = norm(sum, 4);
        whole[i] = square(i) + x.length * 1000;
      },
      { name: 'helpers', uses: { square, norm, fill, COUNT: 3 } },
    );
    const [out, whole] = [new Float32Array(2), new Int32Array(2)];
    await kernel.run({ grid: 2, arguments: { x: [0, 4 / 3], out, whole } });
    assert.equal([...out], [5, Math.fround(Math.sqrt(65))]);
    assert.equal([...whole], [2000, 2001]);
    assert.match(kernel.source, 'static float square(float x) {');
    assert.match(kernel.source, 'static int square_2(int x) {');
  },
);
declare const COUNT: number;

onEveryDevice('names may have letters that Metal does not take.', async (device) => {
  const kernel = await device.compute(
    { größe: f32, größe_: input(f32), μ: output(f32) },
    ({ größe, größe_, μ }, { x: i }) => {
      const ä = größe + i;
      let ö = ä;
      ö += größe_[i]!;
      μ[i] = ö * quadrat_ü(2);
    },
    { name: 'größen', uses: { quadrat_ü: square } },
  );
  assert.is(kernel.name, 'größen');
  assert.not.match(kernel.source, /[^ -~\n]|__/);
  const μ = new Float32Array(2);
  await kernel.run({ grid: 2, arguments: { größe: 1, größe_: [1, 2], μ } });
  assert.equal([...μ], [8, 16]);
  await throwsCode('ERR_INVALID_ARGUMENT', 'Argument (μ)', () =>
    kernel.run({ grid: 2, arguments: { größe: 1, größe_: [1, 2], μ: [1, 2] as never } }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '(a-b): write letters', () => device.compute({ 'a-b': f32 }, () => {}));
  const sum = await device.elementwise('ä, ö', 'out = ä + ö');
  assert.equal((await sum.run([[1, 2], 1])).toArray(), [2, 3]);
});
declare function quadrat_ü(x: number): number;

onEveryDevice('bytes are read as whole numbers, and are written with the lowest bits.', async (device) => {
  const invert = await device.compute({ pixels: output(u8) }, ({ pixels }, { x }) => {
    pixels[x] = 300 - pixels[x]!;
  });
  const pixels = Uint8Array.of(0, 44, 45, 255);
  await invert.run({ grid: 4, arguments: { pixels } });
  assert.equal([...pixels], [44, 0, 255, 45]);
});

onEveryDevice('f64 works if the device supports it.', async (device) => {
  const text = ({ a, x }: { a: number; x: { [i: number]: number } }, { x: i }: { x: number }) => {
    x[i] = a * x[i]! + 0.1 + Math.max(Math.sqrt(2), 0);
  };
  const descriptor = { a: f64, x: output(f64) };
  if (!device.dtypes.includes('float64')) {
    await throwsCode('ERR_UNSUPPORTED_DTYPE', '(a)', () => device.compute(descriptor, text));
    return;
  }
  const kernel = await device.compute(descriptor, text);
  const x = Float64Array.of(1 / 3);
  await kernel.run({ grid: 1, arguments: { a: 3.3, x } });
  assert.is(x[0], 3.3 * (1 / 3) + 0.1 + Math.sqrt(2));
});

onEveryDevice('a launch that does not fit is refused, and nothing runs.', async (device) => {
  const kernel = await device.compute(
    { a: f32, n: i32, x: input(f32), out: output(f32) },
    ({ a, n, x, out }, { x: i }) => {
      out[i] = a * x[i]! + n;
    },
  );
  const out = new Float32Array(2);
  const all = { a: 1, n: 1, x: [1, 2], out };
  const launched =
    (given: object, grid: unknown = 2) =>
    () =>
      kernel.run({ grid: grid as number, arguments: { ...all, ...given } as typeof all });
  await throwsCode('ERR_INVALID_ARGUMENT', 'Kernel (unnamed) has no argument (b)', launched({ b: 1 }));
  await throwsCode(
    'ERR_INVALID_ARGUMENT',
    "Argument (a) of kernel (unnamed) is a number of type f32, not ('1')",
    launched({ a: '1' }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', "not ('1, 2')", launched({ x: '1, 2' }));
  await throwsCode('ERR_INVALID_ARGUMENT', '(x)', launched({ x: 1 }));
  await throwsCode('ERR_INVALID_ARGUMENT', '(out)', launched({ out: [1, 2] }));
  await throwsCode('ERR_INVALID_ARGUMENT', '(float64)', launched({ out: new Float64Array(2) }));
  await throwsCode('ERR_INVALID_ARGUMENT', '(x)', launched({ x: out }));
  await throwsCode('ERR_OUT_OF_RANGE', '(0.5)', launched({ n: 0.5 }));
  await throwsCode('ERR_OUT_OF_RANGE', '(0)', launched({}, 0));
  await throwsCode('ERR_OUT_OF_RANGE', '(2147483648)', launched({}, 2 ** 31));
  await throwsCode('ERR_OUT_OF_RANGE', '`threadgroup` is (2000, 1, 1)', () =>
    kernel.run({ grid: 2000, threadgroup: 2000, arguments: all }),
  );
  await throwsCode('ERR_INVALID_ARGUMENT', '(array of 0)', () => kernel.run({ grid: 2, arguments: [] as never }));
  assert.equal([...out], [0, 0]);
  await kernel.run({ grid: 2, arguments: all });
  assert.equal([...out], [2, 3]);
});

for (const kind of kindsHere.filter((each) => each === 'cpu' || each === 'reference'))
  test(`${kind}: check mode names the line of the function.`, async () => {
    const { openDevice } = await import('../../lib/index.ts');
    using device = openDevice(kind);
    const text = new Function('{ x, out }', '{ x: i }', 'const next = i + 1;\nout[i] = x[next];') as () => void;
    const kernel = await device.compute({ x: input(f32), out: output(f32) }, text, { check: true, name: 'shift' });
    const error = await throwsCode('ERR_KERNEL_CHECK', '(x)', () =>
      kernel.run({ grid: 4, arguments: { x: [1, 2, 3, 4], out: new Float32Array(4) } }),
    );
    // The text of a new Function has two lines before the body.
    assert.equal([error.path, error.line], ['shift', 4], error.message);
    assert.ok(error.message.includes('at (shift:4)'), error.message);
  });

for (const kind of kindsHere.filter((each) => each === 'cpu' || each === 'reference'))
  test(`${kind}: check mode names the function of \`uses\`, and an index with its sign.`, async () => {
    const { openDevice } = await import('../../lib/index.ts');
    using device = openDevice(kind);
    const before = new Function('a, i', 'const k = i - 1;\nreturn a[k];') as () => number;
    const text = new Function('{ x, out }', '{ x: i, atomicAdd }', 'out[i] = before(x, i);') as () => void;
    const options = { check: true, uses: { before } };
    const kernel = await device.compute({ x: input(f32), out: output(f32) }, text, options);
    const error = await throwsCode('ERR_KERNEL_CHECK', 'element (-1)', () =>
      kernel.run({ grid: 4, arguments: { x: [1, 2, 3, 4], out: new Float32Array(4) } }),
    );
    assert.equal([error.path, error.line], ['before', 4], error.message);
    const store = new Function('{ x }', '{ x: i }', 'x[i - 3] = 1;') as () => void;
    const writing = await device.compute({ x: output(i32) }, store, { check: true });
    await throwsCode('ERR_KERNEL_CHECK', 'element (-3)', () =>
      writing.run({ grid: 4, arguments: { x: new Int32Array(4) } }),
    );
    const far = new Function('{ x }', '{ x: i }', 'x[u32(i) - u32(4)] = 1;') as () => void;
    const unsigned = await device.compute({ x: output(i32) }, far, { check: true });
    await throwsCode('ERR_KERNEL_CHECK', 'element (4294967292)', () =>
      unsigned.run({ grid: 4, arguments: { x: new Int32Array(4) } }),
    );
  });

test('On metal check mode is refused.', async () => {
  if (!kindsHere.includes('metal')) return;
  const { openDevice } = await import('../../lib/index.ts');
  using device = openDevice('metal');
  await throwsCode('ERR_UNSUPPORTED', '(metal)', () => device.compute({ a: output(f32) }, () => {}, { check: true }));
});

if (kindsHere.includes('reference'))
  test('The reference device logs, stops at barriers that not all threads reach, and aborts.', async () => {
    const { openDevice } = await import('../../lib/index.ts');
    using device = openDevice('reference');
    const said: unknown[] = [];
    const { log } = console;
    const logging = await device.compute({ a: input(f32) }, ({ a }, { x }) => {
      console.log('thread', x, a[x]! / 2);
    });
    console.log = (...all: unknown[]) => said.push(all);
    try {
      await logging.run({ grid: 2, arguments: { a: [1, 2] } });
    } finally {
      console.log = log;
    }
    assert.equal(said, [
      ['thread', 0, 0.5],
      ['thread', 1, 1],
    ]);
    const apart = await device.compute({ a: output(f32) }, ({ a }, { x, barrier }) => {
      if (x < 3) barrier();
      a[x] = 1;
    });
    await throwsCode('ERR_KERNEL_CHECK', 'barrier', () =>
      apart.run({ grid: 8, arguments: { a: new Float32Array(8) } }),
    );
    const long = await device.compute({ a: output(f32) }, ({ a }, { x }) => {
      for (let i = 0; i < 100_000; i++) a[x] = a[x]! + 1;
    });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    const a = new Float32Array(100_000);
    await throwsCode('ERR_ABORTED', () =>
      long.run({ grid: a.length, arguments: { a } }, { signal: controller.signal }),
    );
  });

/** The numbers that a body writes into an array of six, on a grid of one or more threads. */
async function written(device: Device, body: string, uses: Uses = {}, grid = 1): Promise<number[]> {
  const text = new Function('{ out }', '{ x, array, shared, barrier }', body) as () => void;
  const kernel = await device.compute({ out: output(i32) }, text, { uses });
  const out = new Int32Array(6);
  await kernel.run({ grid, arguments: { out } });
  return [...out];
}

onEveryDevice('the head of a loop may have conditions, barriers and logs, as in minified code.', async (device) => {
  const bodies = [
    'for (let i = 0; i < 10 && n < 50; i > 4 ? (i += 2) : i++) n++;',
    'for (let i = 0; i < 10 && n < 50; n > 4 && i++) { n++; if (n === 3) continue; }',
    'let i = 0; for (n === 0 ? (i = 3) : (i = 4); i < 10; i++) n++;',
    'for (let i = 0; ; n < 7 && i++) { n++; if (i > 2) break; }',
  ];
  for (const body of bodies) {
    const expected = new Function(`let n = 0; ${body} return n;`)() as number;
    assert.equal((await written(device, `let n = 0; ${body} out[0] = n;`))[0], expected, body);
  }
  const waiting = `const s = shared(i32, 6); s[x] = 0; barrier(); let n = 0;
  for (let i = 0; i < 3; i++, barrier()) { n += s[5 - x]; barrier(); s[x] = x + i; }
  out[x] = n;`;
  assert.equal(await written(device, waiting, {}, 6), [11, 9, 7, 5, 3, 1]);
});

onEveryDevice('an index is computed once, and before the value.', async (device) => {
  const next = new Function('state', 'state[0] = state[0] + 1; return state[0];') as () => number;
  const bodies = [
    'out[next(state)] += 5;',
    'out[next(state)]++; out[next(state)] -= 2;',
    'out[next(state)] = state[0] * 10;',
    'out[state[0] + 2] = next(state);',
    'state[next(state)] = 7; out[0] = state[1];',
  ];
  for (const body of bodies) {
    const out = new Array<number>(6).fill(0);
    new Function('out', 'next', `const state = [0, 0]; ${body}`)(out, next);
    assert.equal(await written(device, `const state = array(i32, 2); ${body}`, { next }), out, body);
  }
});

onEveryDevice('a local may have the same name as the printed name of a length.', async (device) => {
  assert.equal(await written(device, '{ let out_length = 80; out[0] = out_length; out[1] = out.length; }'), [
    ...[80, 6, 0, 0, 0, 0],
  ]);
});

onEveryDevice('whole numbers have one zero.', async (device) => {
  const kernel = await device.compute({ out: output(f32) }, ({ out }) => {
    const zero = 0 * -1;
    out[0] = 1 / zero;
    out[1] = 1 / -0;
  });
  const out = new Float32Array(2);
  await kernel.run({ grid: 1, arguments: { out } });
  assert.equal([...out], [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
});

onEveryDevice('an array of f64 takes only numbers, and results go into given memory.', async (device) => {
  if (!device.dtypes.includes('float64')) return;
  const kernel = await device.compute({ a: input(f64), out: output(f64) }, ({ a, out }, { x }) => {
    out[x] = a[x]! + a.length;
  });
  const out = new Float64Array(2);
  await kernel.run({ grid: 2, arguments: { a: [0.1, 0.2], out } });
  assert.equal([...out], [2.1, 2.2]);
  const tried = (given: object) => () => kernel.run({ grid: 2, arguments: { a: [1, 2], out, ...given } as never });
  await throwsCode('ERR_INVALID_ARGUMENT', 'Argument (out) is written', tried({ out: [0, 0] }));
  await throwsCode('ERR_INVALID_ARGUMENT', "Argument (a[1]) is an f64, not ('2')", tried({ a: [1, '2'] }));
});

onEveryDevice(
  'an argument that is not an array is refused for that, even if a kernel asks for its length.',
  async (device) => {
    const kernel = await device.compute({ a: input(f32), out: output(f32) }, ({ a, out }) => {
      out[0] = a.length;
    });
    for (const a of [{}, { shape: 3 }, new ArrayBuffer(8)])
      await throwsCode('ERR_INVALID_ARGUMENT', 'Argument (a) of kernel (unnamed) is an array of f32, not (', () =>
        kernel.run({ grid: 1, arguments: { a: a as never, out: new Float32Array(1) } }),
      );
  },
);

test.run();
