// A runtime that forbids external ArrayBuffers, like Electron; COVARIUM_NO_EXTERNAL_BUFFERS=1 simulates it. The
// devices' tests must pass there too; this file also tests what concerns only V8's own memory.
import { fileURLToPath } from 'node:url';
import { markAsUntransferable } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ending, modulePath, moduleUrl, nodeOptions, runNode } from '../harness/child.ts';
import { kindsHere } from '../harness/every-device.ts';
import { sanitized } from '../harness/sanitized.ts';

const index = moduleUrl('lib/index.ts');
const env = { ...process.env, COVARIUM_NO_EXTERNAL_BUFFERS: '1' };
/**
 * From Node 24.15 on, marking a buffer as untransferable sets a detach key: V8's memory stays until it is collected.
 */
function setsDetachKey(): boolean {
  const memory: ArrayBuffer & { transfer?(): ArrayBuffer } = new ArrayBuffer(8);
  markAsUntransferable(memory);
  try {
    memory.transfer?.();
    return false;
  } catch {
    return true;
  }
}
const native = kindsHere.filter((kind) => kind !== 'reference');

// Under the sanitizers each file takes minutes, and one file covers how V8's own memory gets into a command. A GPU's
// stand-in is slow, and two files cover its commands.
const all = ['command/command-buffer', 'array/matrix', 'normal/multivariate-normal', 'array/volume'];
const names = all.slice(0, sanitized ? 1 : kindsHere.includes('cpu') ? 4 : 2);
if (names.length < 4) console.log(`here without external buffers: ${names} alone`);
// All files run in one process.
const together = fileURLToPath(new URL('../harness/together.mjs', import.meta.url));
let ending: Promise<Ending> | undefined;
for (const name of names)
  test(`test/${name}.test.ts passes without external buffers.`, async () => {
    const paths = names.map((each) => modulePath(`test/${each}.test.ts`));
    ending ??= runNode(['--expose-gc', ...nodeOptions, together, ...paths], env);
    const { signal, stdout, stderr } = await ending;
    const [, , printed, code] =
      new RegExp(`^=== begin .*/${name}\\.test\\.(js|ts)\\n([^]*?)^=== end (\\d)`, 'm').exec(stdout) ?? [];
    assert.equal([code, signal], ['0', null], `${stdout}\n${stderr}`);
    assert.ok(Number(printed!.match(/Passed:\s+(\d+)/)?.[1]) > 0, stdout);
  });

/** What a program prints that has opened `kind` as `device`. */
async function printed(kind: string, text: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const head = `import { openDevice } from '${index}'; const device = openDevice('${kind}');`;
  const args = ['--expose-gc', ...nodeOptions, '--input-type=module', '--eval', head + text];
  const { code, signal, stdout, stderr } = await runNode(args, environment);
  assert.equal([code, signal, stderr], [0, null, '']);
  return stdout;
}

for (const kind of native) {
  test(`${kind}: memory is V8's own without external buffers, is zero, and is detached when closed.`, async () => {
    const text = `
      const vector = device.vector(1e6);
      const { data } = vector;
      const start = [device.memory().liveBytes >= 4e6, data.every((value) => value === 0)];
      device.commandBuffer().fillNormal(vector, { seed: 1 }).commitSync();
      const isFilled = data[0] !== 0 && data.at(-1) !== 0;
      vector.close();
      console.log(JSON.stringify([...start, isFilled, data.length, device.memory().liveBytes]));`;
    assert.is(await printed(kind, text, env), '[false,true,true,0,0]');
    const { COVARIUM_NO_EXTERNAL_BUFFERS, ...allowed } = env;
    assert.is(await printed(kind, text, allowed), '[true,true,true,0,0]', 'the switch makes the difference');
  });

  // Memory freed during a command would crash the process, or the command would write into its next owner's data.
  test(`${kind}: memory that is closed while in flight stays until the commit has settled.`, async () => {
    const text = `
      let settled = 0;
      for (let i = 0; i < 3; i++) {
        const [vector, bystander] = [device.vector(3e6), new Float32Array(3e6)];
        const { data } = vector;
        const commands = device.commandBuffer();
        for (let repeat = 0; repeat < 4; repeat++) commands.fillNormal(vector, { seed: repeat });
        const done = commands.commit();
        vector.close();
        gc();
        bystander.fill(7);
        await done;
        if (bystander.every((value) => value === 7) && (data.length === 0 || data.at(-1) !== 0)) settled++;
      }
      const vector = device.vector(1e6), { data } = vector;
      const done = device.commandBuffer().fillNormal(vector).commit();
      const other = device.vector(1e6), { data: bytes } = other;
      other.close();
      const lengths = [bytes.length];
      await done;
      vector.close();
      console.log(JSON.stringify([settled, ...lengths, data.length]));`;
    assert.is(
      await printed(kind, text, env),
      JSON.stringify([3, 0, setsDetachKey() ? 1e6 : 0]),
      'only what is in flight waits; afterwards it is detached at once, where V8 can',
    );
  });
}

test.run();
