// How a process ends that has worked with the cpu device: each in a process of its own.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ending, moduleUrl, nodeOptions, runChild, runNode } from '../harness/child.ts';
import { onNative } from '../harness/on-native.ts';
import { sanitized } from '../harness/sanitized.ts';

// `long(device)` is a commit of some tenths of a second that has begun.
const head = `
const counter = new Uint32Array(6);
const values = new Float32Array(1 << 22);
const record = (device, repeats) => {
  const encoder = device.encoder();
  for (let i = 0; i < repeats; i++) encoder.fillNormal(values, counter);
  return encoder;
};
const long = (device) => record(device, ${sanitized ? 30 : 60}).commit();
`;

function endsAs(sentence: string, text: string, code: number, stdout: string, check?: (ending: Ending) => void): void {
  onNative(sentence, async () => {
    const ending = await runChild(head + text);
    const what = `${ending.code} ${ending.signal} ${ending.stdout} ${ending.stderr}`;
    assert.is(ending.signal, null, what);
    assert.is(ending.code, code, what);
    assert.is(ending.stdout, stdout, what);
    check?.(ending);
  });
}

endsAs(
  'A process ends by itself after its last commit, with the device open.',
  `long(open(2)).then(() => console.log('settled'));`,
  0,
  'settled',
);
endsAs(
  'A process that waits for nothing else waits for a pending commit.',
  `let begun = performance.now(); const device = open(2); long(device);
   process.on('exit', () => console.log(performance.now() - begun > 20 && values.at(-1) !== 0));`,
  0,
  'true',
);
endsAs('A process that only opened a device ends.', `open(3); open(1).encoder(); console.log('open');`, 0, 'open');
endsAs(
  'A process that has run synchronously ends, with device memory never released.',
  `const device = open(2); record(device, 1).commitSync(); globalThis.kept = device.allocate(1 << 24); console.log('ran');`,
  0,
  'ran',
);
endsAs(
  'process.exit() with work in flight ends with its code.',
  `long(open(2)); long(open(1)); setTimeout(() => { console.log('leaving'); process.exit(7); }, 20);`,
  7,
  'leaving',
);
endsAs(
  'process.exit() in the turn of the commit ends with its code.',
  `const device = open(2); for (let i = 0; i < 20; i++) long(device); console.log('leaving'); process.exit(7);`,
  7,
  'leaving',
);
endsAs(
  'process.exit() with a kernel in flight ends with its code.',
  `const encoder = open(2).encoder();
   encoder.launch('squared_norms', [values, new Float32Array(4096), Uint32Array.of(4096, 1024)], [4096 * 1024], [1024]);
   encoder.commit(); setTimeout(() => { console.log('leaving'); process.exit(7); }, 20);`,
  7,
  'leaving',
);
endsAs(
  'An uncaught error with work in flight ends the process as it should.',
  `long(open(2)); setTimeout(() => { throw new Error('enough'); }, 20);`,
  1,
  '',
  ({ stderr }) => assert.match(stderr, 'Error: enough'),
);
endsAs(
  'A rejected commit that nobody handles is an unhandled rejection like any other.',
  `const encoder = open(2).encoder(); encoder.cholesky(Float32Array.of(-1), 1, 'auto'); encoder.commit();`,
  1,
  '',
  ({ stderr }) => assert.match(stderr, 'ERR_NOT_POSITIVE_DEFINITE'),
);
endsAs(
  'Many devices, closed and not, with commits pending and settled, end well.',
  `for (let i = 0; i < 40; i++) { const device = open(1 + i % 3); const done = record(device, 2).commit();
     if (i % 4 === 0) device.close(); done.catch(({ code }) => { if (code !== 'ERR_ABORTED') throw new Error(code); }); }
   process.on('exit', () => console.log('end'));`,
  0,
  'end',
);

const index = moduleUrl('lib/index.ts');
const pairs = `import { MultivariateNormal, openDevice } from '${index}';
const normalOf = (device, n) => MultivariateNormal.fromCovariance({ device, mean: new Array(n).fill(0),
  covariance: Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 2 : 0.5))) });
`;

const { COVARIUM_TEST_ROUNDS: rounds = sanitized ? '2' : '7' } = process.env as NodeJS.ProcessEnv & {
  COVARIUM_TEST_ROUNDS?: string;
};

// OpenBLAS gives its buffers back among the loader's destructors, while threads of ours multiply: 1 to 8 of 20 ended by
// SIGSEGV. COVARIUM_TEST_ROUNDS=100 ends that often.
for (const [how, end, code] of [
  ['process.exit()', 'process.exit(3)', 3],
  ['an uncaught error', "throw new Error('enough')", 1],
  ['an unhandled rejection', "Promise.reject(new Error('enough'))", 1],
] as const)
  onNative(`${how} in the middle of products by BLAS ends with its own status.`, async () => {
    const text = `${pairs}const normal = await normalOf(openDevice('cpu'), 300);
      setTimeout(() => { ${end}; }, 50);
      normal.sample(300000).catch(() => {});`;
    for (let i = 0; i < Number(rounds); i++) {
      const ending = await runNode([...nodeOptions, '--input-type=module', '--eval', text]);
      assert.equal([ending.code, ending.signal], [code, null], ending.stderr);
    }
  });

// From Node 24.15 on a mark against transfers sets a detach key, and Node ends the process that detaches without it.
onNative(
  'Results that were written and read by commits close, and are forgotten at exit, on every release of Node.',
  async () => {
    const text = `${pairs}const normal = await normalOf(openDevice('cpu'), 2);
    const out = await normal.sample(200000);
    await normal.sample(200000, { out });
    await normal.logPdf(out);
    for await (const block of normal.blocks(200000, { rowsPerBlock: 150000 })) await normal.logPdf(block);
    out.close();
    globalThis.forgotten = await normal.sample(200000);
    await normal.logPdf(forgotten);
    console.log(out.closed, forgotten.rows);`;
    for (const COVARIUM_NO_EXTERNAL_BUFFERS of ['', '1']) {
      const env = { ...process.env, COVARIUM_NO_EXTERNAL_BUFFERS };
      const ending = await runNode([...nodeOptions, '--input-type=module', '--eval', text], env);
      assert.equal([ending.code, ending.signal, ending.stdout], [0, null, 'true 200000'], ending.stderr);
    }
  },
);

test.run();
