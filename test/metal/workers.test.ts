// Worker threads and processes that end while a Metal device works, over its software stand-in. Each case has its own
// process, since a crash would also end the test.
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ending, moduleUrl, runChild } from '../harness/child.ts';
import { sanitized } from '../harness/sanitized.ts';
import { workerRounds } from '../harness/worker-plans.ts';
import { onSoftMetal } from './on-metal.ts';

const script = fileURLToPath(new URL('../harness/worker-rounds.mjs', import.meta.url));
const hooks = moduleUrl('test/metal/softmetal/softmetal.ts');
// In each process: the hooks, a Metal device, and a commit of GPU work, of CPU work and of host memory.
const head = `
const { SoftMetal } = await import('${hooks}');
const { dirname } = await import('node:path');
loadAddon();
const soft = new SoftMetal({ folder: dirname(process.env.COVARIUM_ADDON), path: process.env.COVARIUM_ADDON });
const metal = () => loadAddon().addon.openDevice('metal', { threads: 2 });
const host = new Float32Array(64);
const work = (device, shared) => {
  const encoder = device.encoder();
  encoder.fillNormal(shared, new Uint32Array(6));
  return encoder.commit();
};
const mixed = (device) => {
  const shared = new Float32Array(device.allocate(256));
  const encoder = device.encoder();
  encoder.fillNormal(shared, new Uint32Array(6));
  encoder.requireFinite(shared, 8);
  encoder.copy(shared, host);
  return [work(device, shared), encoder.commit(), work(device, host)];
};
`;

function endsAs(sentence: string, text: string, code: number, stdout: string, env: NodeJS.ProcessEnv = {}): void {
  onSoftMetal(sentence, async () => {
    const ending: Ending = await runChild(head + text, { ...process.env, ...env });
    const what = `${ending.code} ${ending.signal} ${ending.stdout} ${ending.stderr}`.slice(0, 2000);
    assert.is(ending.signal, null, what);
    assert.is(ending.code, code, what);
    assert.is(ending.stdout, stdout, what);
    if (code === 0) assert.is(ending.stderr, '', what);
  });
}

const slow = { SOFTMETAL_DELAY_MS: '20' };

endsAs(
  'A process ends by itself, with 0, when its last commits have settled and the device is open.',
  `Promise.all(mixed(metal())).then(() => console.log('settled'));`,
  0,
  'settled',
  slow,
);
endsAs(
  'A process does not end before its commits have settled.',
  `mixed(metal()); process.on('exit', () => console.log(host.every((value) => value !== 0)));`,
  0,
  'true',
  slow,
);
for (const code of [0, 7]) {
  endsAs(
    `process.exit(${code}) right after the commits ends with this code.`,
    `const device = metal(); for (let i = 0; i < 20; i++) mixed(device); console.log('leaving'); process.exit(${code});`,
    code,
    'leaving',
    slow,
  );
  endsAs(
    `process.exit(${code}) with commits in flight ends with this code.`,
    `const device = metal(); for (let i = 0; i < 20; i++) mixed(device); mixed(metal());
     setTimeout(() => { console.log('leaving'); process.exit(${code}); }, 50);`,
    code,
    'leaving',
    slow,
  );
}
endsAs(
  'A process ends with 0 whether or not its device is closed while commits are in flight.',
  `const [closed, kept] = [metal(), metal()];
   const endings = [...mixed(closed), ...mixed(kept)];
   closed.close();
   const codes = (await Promise.allSettled(endings)).map(({ reason }) => reason?.code ?? 'ran');
   console.log(codes.slice(0, 3).every((code) => code === 'ERR_ABORTED' || code === 'ran'), ...codes.slice(3));`,
  0,
  'true ran ran ran',
  slow,
);
endsAs(
  'Devices without a reference are closed by the garbage collector, and nothing is left of them.',
  `for (let i = 0; i < 10; i++) await Promise.all(mixed(metal()));
   for (let turn = 0; turn < 200 && Object.keys(soft.ledger()).length > 0; turn++) {
     gc(); await new Promise((resolve) => setTimeout(resolve, 5));
   }
   console.log(JSON.stringify(soft.ledger()));`,
  0,
  '{}',
);

/**
 * Rounds of workers, each with a plan of test/harness/native-worker.mjs. When all have ended, nothing is left in the
 * process.
 */
function survives(sentence: string, rounds: number, plans: readonly string[], before = ''): void {
  const times = sanitized ? Math.ceil(rounds / 4) : rounds;
  const text = `${before}
    process.argv = ['', ...${JSON.stringify([script, String(times), ...plans])}];
    await import(${JSON.stringify(script)});
    await Promise.all(globalThis.last ?? []);
    for (let turn = 0; turn < 200 && Object.keys(soft.ledger()).length > 0; turn++) {
      gc(); await new Promise((resolve) => setTimeout(resolve, 5));
    }
    console.log(JSON.stringify(soft.ledger()));`;
  endsAs(sentence, text, 0, `${plans.length} workers in each of ${times} rounds\n{}`, {
    COVARIUM_TEST_DEVICE: 'metal',
  });
}

// Half as many rounds: this repeats another test, and the stand-in is slower.
for (const { sentence, rounds, plans } of workerRounds) survives(sentence, rounds / 2, plans);
survives(
  'The main thread keeps its own device while workers end.',
  4,
  ['use', 'forget', 'pend+', 'settle+'],
  `const kept = metal();
   globalThis.last = [(async () => {
     for (let i = 0; i < 300; i++) await Promise.all(mixed(kept));
     kept.close();
   })()];`,
);

test.run();
