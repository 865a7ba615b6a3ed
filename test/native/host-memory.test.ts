// Operands in the host's own memory: a transfer or a resize may take the bytes away while commands over them are
// recorded or run. The public interface forbids transfers in flight; below it, the device must at least never touch
// bytes outside the operand.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runChild } from '../harness/child.ts';
import { openCpuBackend } from '../harness/cpu-backend.ts';
import { counterOf } from '../harness/naive.ts';
import { onNative } from '../harness/on-native.ts';
import { throwsCode } from '../harness/throws-code.ts';

const counter = counterOf(1, 2, 0);

onNative('An array that is transferred after it was recorded is not written.', async () => {
  const device = openCpuBackend(1);
  for (const sync of [true, false]) {
    const values = new Float32Array(1000);
    const encoder = device.encoder();
    encoder.fillNormal(values, counter);
    const moved = new Float32Array(structuredClone(values.buffer, { transfer: [values.buffer] }));
    try {
      if (sync) encoder.commitSync();
      else await encoder.commit();
    } catch (error) {
      assert.ok(['ERR_CLOSED', 'ERR_INVALID_ARGUMENT'].includes((error as { code: string }).code), String(error));
    }
    assert.ok(
      moved.every((value) => value === 0),
      'the new owner has its zeros',
    );
  }
  device.close();
});

onNative('A resizable buffer that shrinks does not end the process.', async () => {
  const { code, signal, stderr } = await runChild(`
    const buffer = new ArrayBuffer(1 << 22, { maxByteLength: 1 << 23 });
    try {
      const encoder = open(1).encoder();
      for (let i = 0; i < 100; i++) encoder.fillNormal(new Float32Array(buffer), new Uint32Array(6));
      const done = encoder.commit();
      buffer.resize(0);
      await done;
    } catch ({ code }) {
      if (!/^ERR_(INVALID_ARGUMENT|UNSUPPORTED|CLOSED)$/.test(code)) throw new Error(code);
    }`);
  assert.equal([code, signal], [0, null], stderr.slice(0, 500));
});

onNative('A buffer that may change its size is refused, whatever its size, from any offset.', async () => {
  const device = openCpuBackend(1);
  for (const bytes of [8, 64, 100, 4096, 1 << 22])
    for (const [Memory, offset] of [
      [ArrayBuffer, 0],
      [ArrayBuffer, 4],
      [SharedArrayBuffer, 0],
      [SharedArrayBuffer, 4],
    ] as const) {
      const memory = new (Memory as unknown as Resizable)(bytes, { maxByteLength: 2 * bytes });
      const record = () => device.encoder().fillNormal(new Float32Array(memory, offset, 1), counter);
      assert.match((await throwsCode('ERR_INVALID_ARGUMENT', record)).message, 'whose memory may go away');
    }
  device.close();
});

type Resizable = new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;

onNative('Shared memory works like any other.', async () => {
  const device = openCpuBackend(1);
  const [shared, own] = [new Float32Array(new SharedArrayBuffer(400)), new Float32Array(100)];
  const encoder = device.encoder();
  encoder.fillNormal(own, counter);
  encoder.fillNormal(shared as unknown as Float32Array<ArrayBuffer>, counter);
  await encoder.commit();
  assert.equal([...shared], [...own]);
  device.close();
});

onNative('Host memory stays alive while it is in flight, even without another reference.', async () => {
  const device = openCpuBackend(1);
  const commits = Array.from({ length: 50 }, () => {
    const encoder = device.encoder();
    for (let repeat = 0; repeat < 4; repeat++) encoder.fillNormal(new Float32Array(1 << 18), counter);
    return encoder.commit();
  });
  globalThis.gc?.();
  for (const commit of commits) assert.ok((await commit).deviceMs >= 0);
  device.close();
});

test.run();
