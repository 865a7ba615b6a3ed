// How a process that has used the cpu device ends. Each case has its own process.
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
  'A process does not end before a pending commit has settled.',
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
  'process.exit() with work in flight ends with the given code.',
  `long(open(2)); long(open(1)); setTimeout(() => { console.log('leaving'); process.exit(7); }, 20);`,
  7,
  'leaving',
);
endsAs(
  'process.exit() right after the commit ends with the given code.',
  `const device = open(2); for (let i = 0; i < 20; i++) long(device); console.log('leaving'); process.exit(7);`,
  7,
  'leaving',
);
endsAs(
  'process.exit() with a kernel in flight ends with the given code.',
  `const encoder = open(2).encoder();
   encoder.launch('squared_norms', [values, new Float32Array(4096), Uint32Array.of(4096, 1024)], [4096 * 1024], [1024]);
   encoder.commit(); setTimeout(() => { console.log('leaving'); process.exit(7); }, 20);`,
  7,
  'leaving',
);
endsAs(
  'An uncaught error with work in flight ends the process with code 1.',
  `long(open(2)); setTimeout(() => { throw new Error('enough'); }, 20);`,
  1,
  '',
  ({ stderr }) => assert.match(stderr, 'Error: enough'),
);
endsAs(
  'A rejected commit without a handler is an ordinary unhandled rejection.',
  `const encoder = open(2).encoder(); encoder.cholesky(Float32Array.of(-1), 1, 'auto'); encoder.commit();`,
  1,
  '',
  ({ stderr }) => assert.match(stderr, 'ERR_NOT_POSITIVE_DEFINITE'),
);
endsAs(
  'A process with many devices, some closed, with commits pending and settled, ends well.',
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

// OpenBLAS frees its buffers in the loader's destructors, while our threads multiply: 1 to 8 of 20 processes ended by
// SIGSEGV. COVARIUM_TEST_ROUNDS=100 runs 100 processes.
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

// From Node 24.15 on, marking a buffer as untransferable sets a detach key, and Node aborts if it is detached without
// it.
onNative(
  'Results that commits have written and read can be closed, or left open at exit, on every release of Node.',
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
