// How long the `cuda` device takes to open, in ms, and how long the event loop waits for it: once in a folder for the
// driver's compiled kernels that is empty, as for a user's first program, and once when they are there.
//
//     npm run build
//     node test/real-gpu/open.mjs
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [way] = process.argv.slice(2);
if (way === undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-open-'));
  const env = { ...process.env, CUDA_CACHE_PATH: folder };
  for (const each of ['sync', 'async']) {
    rmSync(folder, { recursive: true, force: true });
    for (let round = 0; round < 2; round++)
      process.stdout.write(execFileSync(process.execPath, [fileURLToPath(import.meta.url), each], { env }));
  }
  rmSync(folder, { recursive: true, force: true });
} else {
  const { openDevice, openDeviceAsync } = await import('../../dist/lib/index.js');
  const begin = performance.now();
  let [last, longest] = [begin, 0];
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(turn, 1);
  const device = way === 'async' ? await openDeviceAsync('cuda') : openDevice('cuda');
  turn();
  clearInterval(timer);
  const took = performance.now() - begin;
  const again = performance.now();
  openDevice('cuda').close();
  const second = performance.now() - again;
  device.close();
  console.log(`${way}: ${took.toFixed(0)}, longest wait ${longest.toFixed(0)}; a second device ${second.toFixed(0)}`);
}
