// Sizes as large as the machine's memory: the memory of forgotten results is bounded, and impossible sizes are
// refused before memory is touched.
import { totalmem } from 'node:os';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runChild } from '../harness/child.ts';
import { onNative } from '../harness/on-native.ts';

for (const [mebibytes, rounds] of [
  [64, Math.ceil((1.5 * totalmem()) / 2 ** 26)],
  [400, 40],
] as const)
  onNative(
    `A synchronous loop that forgets (${rounds}) results of (${mebibytes}) MiB holds at most 3 GiB.`,
    async () => {
      // Finalizers wait for a turn of the event loop, which never comes. Only a part of each result is touched, to
      // save time.
      const { code, signal, stdout, stderr } = await runChild(`
      const device = open(2);
      let peak = 0;
      for (let i = 0; i < ${rounds}; i++) {
        new Uint8Array(device.allocate(${mebibytes * 2 ** 20}), 0, 2 ** 20).fill(1);
        peak = Math.max(peak, device.memory().liveBytes + process.memoryUsage().arrayBuffers);
      }
      console.log(peak);`);
      assert.equal([code, signal], [0, null], stderr.slice(0, 1000));
      console.log(
        `${rounds} forgotten results of ${mebibytes} MiB: at most ${(Number(stdout) / 2 ** 30).toFixed(1)} GiB`,
      );
      assert.ok(Number(stdout) < 3 * 2 ** 30, `${stdout} bytes`);
    },
  );

onNative("Results of 4 GiB and more, the limit of Node's own buffers, work or are refused.", async () => {
  const sizes = [2 ** 32 - 4096, 2 ** 32, 2 ** 32 + 4096, 5e9].filter((size) => size < 0.5 * totalmem());
  if (sizes.length < 4) console.log(`memory has (${totalmem()}) bytes: tried up to (${sizes.at(-1)})`);
  for (const size of sizes) {
    const { code, signal, stdout, stderr } = await runChild(`
      const device = open(1);
      try {
        const memory = device.allocate(${size});
        new Uint8Array(memory, ${size} - 1)[0] = 1;
        const encoder = device.encoder();
        encoder.fillNormal(new Float32Array(memory, 0, 100), new Uint32Array(6));
        encoder.commitSync();
        console.log(memory.byteLength);
      } catch ({ code }) {
        console.log(code === 'ERR_OUT_OF_MEMORY' || code === 'ERR_TOO_LARGE' ? ${size} : code);
      }`);
    assert.equal([code, signal, stdout], [0, null, String(size)], stderr.slice(0, 1000));
  }
});

onNative(
  'More memory than the machine has is refused before it is touched, however much is already allocated.',
  async () => {
    const sizes = [2 ** 53 - 1, 1e15, 2 ** 42, 8 * totalmem(), 1.01 * totalmem()].map(Math.ceil);
    const gibibytes = Math.ceil((0.3 * totalmem()) / 2 ** 30); // beyond one results are V8's own memory
    for (const held of [[], [2 ** 20], Array(gibibytes).fill(2 ** 30)]) {
      const { code, signal, stdout, stderr } = await runChild(`
      const device = open(1);
      globalThis.held = ${JSON.stringify(held)}.map((size) => device.allocate(size));
      const before = process.memoryUsage.rss();
      for (const size of ${JSON.stringify(sizes)}) {
        try {
          device.allocate(size);
          console.log('given', size);
        } catch ({ code, message }) {
          if (code !== 'ERR_OUT_OF_MEMORY' || !message.includes('(' + size + ')')) console.log(code, message);
        }
      }
      if (process.memoryUsage.rss() - before > 2 ** 26) console.log('touched');
      new Uint8Array(device.allocate(4096)).fill(1);`);
      assert.equal([code, signal, stdout], [0, null, ''], `${held.length} held: ${stderr.slice(0, 1000)}`);
    }
  },
);

test.run();
