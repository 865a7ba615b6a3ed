// Code that a kernel can't have is refused at its place in the function, and the error says what to write instead.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type CovariumError, f32, i32, input, openDevice, output, u32 } from '../../lib/index.ts';
import { throwsCode } from '../harness/throws-code.ts';

const descriptor = { n: i32, u: u32, a: input(f32), k: input(i32), out: output(f32), whole: output(i32) };
const thread = '{ x, shared, array, barrier, atomicAdd }';

/** The error of a kernel with this body; with `uses` its functions. */
async function refusal(body: string, shown: string, uses = {}): Promise<CovariumError> {
  using device = openDevice('reference');
  const text = new Function('{ n, u, a, k, out, whole }', thread, body) as () => void;
  return await throwsCode('ERR_KERNEL_COMPILE', shown, () => device.compute(descriptor, text, { uses, name: 'tried' }));
}

const refused: readonly (readonly [body: string, shown: string])[] = [
  ['out[x] = scale;', 'what is outside is not seen: give it as an argument, or in `uses`'],
  ['helper(x);', '(helper) is outside of the function'],
  ['cov_1abc().s[0]++;', 'istanbul'],
  ['__name(x, "x");', "esbuild's keepNames"],
  ['var y = 1;', 'write let or const'],
  ['for (const v of a) out[x] = v;', 'cannot have a for-of loop'],
  ['for (const v in a) out[x] = v;', 'cannot have a for-in loop'],
  ['try { out[x] = 1; } catch { }', 'cannot have a try'],
  ['throw 1;', 'throws nothing'],
  ['switch (n) { default: }', 'cannot have a switch'],
  ['outer: for (;;) break outer;', 'cannot have labels'],
  ['function f() {}', 'contains no function'],
  ['const f = () => 1;', 'contains no function'],
  ['class A {}', 'no class'],
  ['const o = { a: 1 };', 'cannot use objects'],
  ['const o = [1];', 'array(f32, 16)'],
  ['const o = new Float32Array(3);', 'array(f32, 16)'],
  ['const s = "text";', 'cannot use strings'],
  ['const s = `text`;', 'cannot use strings'],
  ['const s = 1n;', 'leave out the n'],
  ['const s = /x/;', '(/x/)'],
  ['const [p] = a;', 'taken apart'],
  ['out[x] = this.a;', 'no this'],
  ['out[x] = n ?? 1;', '??'],
  ['out[x] = a?.[0];', '?.'],
  ['out[x] = undefined;', 'undefined'],
  ['out[x] = Math.random();', 'Math.random'],
  ['out[x] = Math.cbrt(1 * n);', 'Not every device has Math.cbrt'],
  ['out[x] = Math["sin"](n);', '(Math["sin"]) is not a function that a kernel has'],
  ['out[x] = isNaN(a[x]) ? 1 : 0;', 'write x !== x'],
  ['let y = 3000000000; out[x] = y;', 'Number (3000000000) is beyond i32, in (3000000000): write u32(...) or f32(...)'],
  ['whole[x] = u > -1 ? 1 : 0;', 'Number (-1) is beyond u32, in (u > -1): write f32(...)'],
  ['whole[x] = Math.trunc(3000000000 / n);', 'Number (3000000000) is beyond i32'],
  ['whole[x] = (n / 3000000000) | 0;', 'Number (3000000000) is beyond i32'],
  ['whole[x] = i32(Math.floor(u / -2));', 'Number (-2) is beyond u32, in (Math.floor(u / -2)): write f32(...)'],
  ['out[x] = Math.max();', '(0) arguments'],
  ['out[x] = Math.sqrt(n, n);', '(2) arguments'],
  ['let y = (out[x] = 1);', 'statement of its own'],
  ['let i = 0; out[i++] = 1;', 'statements of their own'],
  ['n = 2;', '(n) is constant'],
  ['const c = 1; c = 2;', '(c) is constant'],
  ['a[x] = 1;', '(a) is an input'],
  ['out = 1;', 'is an array'],
  ['out[x] = a;', 'is an array'],
  ['out[x / 2] = 1;', 'is of type f32, not a whole number'],
  ['whole[x] = 0.5;', 'i32'],
  ['whole[x] = n / 2;', 'write i32(...)'],
  ['whole[x] = u;', 'write i32(...)'],
  ['out[x] = n + u;', 'An i32 meets a u32'],
  ['let h = n; h = u;', '(h) is of type i32 elsewhere'],
  ['if (n) out[x] = 1;', 'write (n) !== 0'],
  ['out[x] = n > 0;', 'condition'],
  ['out[x] = (n > 0) + 1;', 'write (flag ? 1 : 0)'],
  ['whole[x] = u >> 1;', 'write >>>'],
  ['whole[x] = 0.5 * n & 1;', 'bits are those of whole numbers'],
  ['let y; out[x] = 1;', 'never given a value'],
  ['const t = shared(f32, n); out[x] = t[0];', 'known before the kernel runs'],
  ['const t = shared(f32, 8193); out[x] = t[0];', 'from 1 to 8192'],
  ['let t = array(f32, 3);', 'declare it by const'],
  ['if (n > 0) { const t = shared(f32, 3); }', 'outer level'],
  ['out[x] = atomicAdd(whole, 0, 1);', 'changes something'],
  ['atomicAdd(out, 0, 1);', 'array of i32 or u32'],
  ['atomicAdd(k, 0, 1);', 'array of i32 or u32'],
  ['const y = barrier();', 'statement of its own'],
  ['return 1;', 'returns nothing'],
  ['1 + n;', 'does nothing'],
  ['out[x] = n.length;', '(n) is not an array'],
  ['whole[x] = 5000000000 * n | 0 + missing;', '(missing)'],
  ['debugger; console.error(1);', 'console'],
];

for (const [body, shown] of refused)
  test(`refused: ${body}`, async () => {
    const error = await refusal(body, shown);
    assert.is(error.path, 'tried');
    // The text of a new Function has two lines before the body.
    assert.is(error.line, 3, error.message);
    assert.ok(error.column! > 0 && error.message.includes('> 3 |'), error.message);
    assert.is(error.diagnostics?.length, 1);
  });

test('A mistake in a function of `uses` is shown there.', async () => {
  const half = new Function('v', 'return v / scale;') as () => number;
  const error = await refusal('out[x] = half(a[x]);', '(scale)', { half });
  assert.is(error.path, 'half');
  await refusal('out[x] = half(1, 2);', '(1) arguments, not (2)', { half });
  const endless = new Function('v', 'return endless(v);') as () => number;
  await refusal('out[x] = endless(n);', 'calls itself', { endless });
  const maybe = new Function('v', 'if (v > 0) return 1;') as () => number;
  await refusal('out[x] = maybe(n);', 'on every way', { maybe });
  const early = (each: number) => {
    if (each > 1) return;
    return 5.5;
  };
  const late = (each: number) => {
    if (each > 1) return 5.5;
    return;
  };
  await refusal('out[x] = early(n);', 'This return gives no value', { early });
  await refusal('out[x] = late(n);', 'This return gives no value', { late });
  const nothing = new Function('v', 'let y = v; y = 1;') as () => void;
  await refusal('out[x] = nothing(n);', 'returns nothing', { nothing });
  const put = new Function('v', 'v[0] = 1; return 2;') as () => number;
  await refusal('out[x] = put(out) + 1;', 'writes to an array', { put });
});

test('A value that is not a kernel is refused.', async () => {
  using device = openDevice('reference');
  const compute =
    (given: unknown, types: unknown = { out: output(f32) }, options = {}) =>
    () =>
      device.compute(types as { out: ReturnType<typeof output<'f32'>> }, given as () => void, options);
  await throwsCode('ERR_INVALID_ARGUMENT', "`text` is ('text')", compute('text'));
  await throwsCode('ERR_INVALID_ARGUMENT', 'native', compute(Math.max));
  await throwsCode('ERR_INVALID_ARGUMENT', 'bind()', compute((() => {}).bind(null)));
  await throwsCode(
    'ERR_KERNEL_COMPILE',
    'async',
    compute(async () => {}),
  );
  await throwsCode(
    'ERR_KERNEL_COMPILE',
    '*',
    compute(function* () {}),
  );
  await throwsCode('ERR_KERNEL_COMPILE', 'class', compute(class {}));
  await throwsCode(
    'ERR_KERNEL_COMPILE',
    '{ ... }',
    compute(() => 1),
  );
  await throwsCode(
    'ERR_KERNEL_COMPILE',
    '(y)',
    compute(({ y }: { y: number }) => {
      y;
    }),
  );
  await throwsCode(
    'ERR_KERNEL_COMPILE',
    '(w)',
    compute((_: object, { w }: { w: number }) => {
      w;
    }),
  );
  await throwsCode(
    'ERR_KERNEL_COMPILE',
    'defaults',
    compute(({ out = 1 }) => {
      out;
    }),
  );
  await throwsCode(
    'ERR_INVALID_ARGUMENT',
    "('f32')",
    compute(() => {}, { out: 'f32' }),
  );
  await throwsCode(
    'ERR_INVALID_ARGUMENT',
    '(a-b)',
    compute(() => {}, { 'a-b': f32 }),
  );
  await throwsCode(
    'ERR_INVALID_ARGUMENT',
    '(1)',
    compute(() => {}, 1),
  );
  await throwsCode(
    'ERR_INVALID_ARGUMENT',
    "`name` is ('a b')",
    compute(() => {}, undefined, { name: 'a b' }),
  );
  await throwsCode(
    'ERR_INVALID_ARGUMENT',
    "('text')",
    compute(() => {}, undefined, { uses: { a: 'text' } }),
  );
  await throwsCode(
    'ERR_UNKNOWN_OPTION',
    '(use)',
    compute(() => {}, undefined, { use: {} }),
  );
});

test('Methods and functions are kernels too, and minified code works.', async () => {
  using device = openDevice('reference');
  const holder = {
    kernel({ out }: { out: { [i: number]: number } }, { x }: { x: number }) {
      out[x] = x;
    },
  };
  const minified = new Function('{out:t}', '{x:n}', 'let o=!0,e=1;o&&(e=2,t[n]=e),n>1?t[n]=3:e++') as () => void;
  const [one, two] = [new Float32Array(3), new Float32Array(3)];
  await (await device.compute({ out: output(f32) }, holder.kernel)).run({ grid: 3, arguments: { out: one } });
  await (await device.compute({ out: output(f32) }, minified)).run({ grid: 3, arguments: { out: two } });
  assert.equal([...one, ...two], [0, 1, 2, 2, 2, 3]);
});

test('Names of Metal, and names that shadow others, may be used.', async () => {
  using device = openDevice('reference');
  const body = `let float = 1; { let float = 2; out[0] = float; } const kernel = float + 1;
    for (let i = 0; i < 2; i++) { const i2 = i; let abs = Math.abs(i2 - 5); out[1 + i] = abs + kernel; }`;
  const text = new Function('{ out }', body) as () => void;
  const kernel = await device.compute({ out: output(f32) }, text);
  const out = new Float32Array(3);
  await kernel.run({ grid: 1, arguments: { out } });
  assert.equal([...out], [2, 7, 6]);
  assert.not.match(kernel.source, /(?:int|float) (?:float|kernel|abs)\b/);
});

test.run();
