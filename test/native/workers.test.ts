// Worker threads load and use the addon, and end. A crash would end the process, so each set of rounds has its own
// process.
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runChild, runNode } from '../harness/child.ts';
import { onNative } from '../harness/on-native.ts';
import { sanitized } from '../harness/sanitized.ts';
import { workerRounds } from '../harness/worker-plans.ts';

const script = fileURLToPath(new URL('../harness/worker-rounds.mjs', import.meta.url));

/** `before` is code that runs in the main thread first and may call `open`. */
function survives(sentence: string, rounds: number, plans: readonly string[], before?: string): void {
  onNative(sentence, async () => {
    const times = sanitized ? Math.ceil(rounds / 4) : rounds;
    const args = [script, String(times), ...plans];
    const { code, signal, stdout, stderr } =
      before === undefined
        ? await runNode(args)
        : await runChild(
            `${before}\nprocess.argv = ['', ...${JSON.stringify(args)}];\nawait import(${JSON.stringify(script)});`,
          );
    assert.equal([code, signal], [0, null], `${stdout} ${stderr}`.slice(0, 2000));
    assert.match(stdout, `${plans.length} workers in each of ${times} rounds`);
  });
}

for (const { sentence, rounds, plans } of workerRounds) survives(sentence, rounds, plans);
survives(
  'The main thread keeps its own device while workers end.',
  6,
  ['use', 'forget', 'pend+', 'settle+'],
  `const kept = open(2);
   const out = new Float32Array(1 << 16);
   let left = true;
   (async () => {
     while (left) {
       const encoder = kept.encoder();
       encoder.fillNormal(out, new Uint32Array(6));
       await encoder.commit();
     }
   })();
   setTimeout(() => { left = false; }, 1500);`,
);

test.run();
