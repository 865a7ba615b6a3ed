// Every system call of a write fails once, and once the process is killed there. COVARIUM_TEST_ROUNDS=200 tries each
// fault and kills at least that often, in files of every format.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { modulePath, nodeOptions, runNode } from '../harness/child.ts';
import { faultBytes, faultLibrary } from '../harness/faults.ts';
import { leftovers, stateOf, type Written, write } from '../harness/faulty-writes.ts';

// In memory if there is such a folder, because a disk takes milliseconds for each fsync.
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'covarium-faulty-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const model = join(folder, 'model.json');
writeFileSync(model, JSON.stringify({ covarium: 1, mean: [1, -1], covariance: [[2, 0.5], [0.5, 1]] })); // biome-ignore format: short
const { reason, env, control } = faultLibrary();
const { COVARIUM_TEST_ROUNDS: rounds = '1' } = process.env as NodeJS.ProcessEnv & { COVARIUM_TEST_ROUNDS?: string };
const driver = modulePath('test/harness/faulty-writes.ts');

function onFaults(sentence: string, check: () => Promise<void>): void {
  if (reason === '') return void test(sentence, check);
  console.log(`skipped  ${sentence} ${reason}`);
  test.skip(sentence);
}

for (const what of ['file', 'pair', 'parts'] as const) {
  const at = join(folder, `written-${what}`);
  mkdirSync(at);

  onFaults(
    `${what}: whichever call fails, the result is the new file, or an error and the old one, and nothing else.`,
    async () => {
      const args = [...nodeOptions, driver, 'sweep', what, at, model, control, rounds];
      const { code, signal, stdout, stderr } = await runNode(args, env('written-'), 120_000 * Number(rounds));
      assert.equal([code, signal, stderr], [0, null, '']);
      assert.match(stdout, /^tried \d\d+$/, stdout);
    },
  );

  onFaults(
    `${what}: whichever call it is killed at, it leaves whole files, and the next run removes the rest.`,
    async () => {
      for (let round = 0, kills = 0; round === 0 || kills < Number(rounds); round++) {
        const states = await wholeStates(what, at, round);
        for (let call = 1; ; call++) {
          clear(at);
          if (what !== 'parts') await write(what, at, model, 1, round);
          writeFileSync(control, faultBytes({ call: 'any', action: 'kills', at: call }));
          const args = [...nodeOptions, driver, 'once', what, at, model, control, `${round}`];
          const { code, signal, stderr } = await runNode(args, env('written-'));
          writeFileSync(control, new Uint8Array(20));
          if (signal === null) {
            assert.equal([code, stderr], [0, '']);
            assert.ok(call > 6, `killed at ${call - 1} calls`);
            break;
          }
          kills++;
          if (what !== 'parts') assert.ok(states.includes(stateOf(at)), `killed at call ${call}:\n${stateOf(at)}`);
          await write(what, at, model, 2, round);
          assert.equal([stateOf(at), leftovers(at)], [states[1]!, []], `after a kill at call ${call}, round ${round}`);
        }
      }
    },
  );
}

/**
 * The old state, the new one, and of a pair the one between its two renames, which takes microseconds: the new file
 * beside the old manifest.
 */
async function wholeStates(what: Written, at: string, round: number): Promise<string[]> {
  const states: string[] = [];
  for (const seed of [1, 2]) {
    clear(at);
    await write(what, at, model, seed, round);
    states.push(stateOf(at));
  }
  const [old, fresh] = states as [string, string];
  if (what === 'pair') states.push(`${fresh.split('\n')[0]}\n${old.split('\n')[1]}`);
  return states;
}

function clear(where: string): void {
  for (const name of readdirSync(where)) rmSync(join(where, name));
}

test.run();
