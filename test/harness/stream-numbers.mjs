// Streams numbers through `covarium sample` to NPY and to Parquet, and prints the peak memory, and the rate as a
// share of the rate of plain writes of as many bytes. All times include fsync. npm run stream-numbers -- --numbers
// 250000000 --folder /data
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { cpus, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    numbers: { type: 'string', default: '1000000000' },
    dimension: { type: 'string', default: '10' },
    folder: { type: 'string', default: tmpdir() },
  },
});
const n = Number(values.dimension);
const rows = Math.ceil(Number(values.numbers) / n);
const bytes = rows * n * 4;
const main = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url));
const folder = mkdtempSync(join(values.folder, 'covarium-stream-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

const model = join(folder, 'model.json');
const covariance = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0.5)));
writeFileSync(model, JSON.stringify({ covarium: 1, dtype: 'float32', mean: Array(n).fill(0), covariance }));

console.log(
  `${rows} rows of ${n} float32 numbers, ${(bytes / 1e9).toFixed(2)} GB; ${cpus()[0]?.model}, ${cpus().length} threads`,
);
// Measured before and after each run, since a shared disk is not always equally fast.
const plain = [await plainWrite()];
for (const format of ['npy', 'parquet']) {
  // A tenth of the rows: if memory is bounded, the peak is the same.
  const tenth = await sample(format, Math.ceil(rows / 10));
  const whole = await sample(format, rows);
  plain.push(await plainWrite());
  const [before, after] = plain.slice(-2);
  const share = ((50 * (before + after)) / whole.seconds).toFixed(0);
  console.log(
    `${format.padEnd(8)} ${whole.seconds.toFixed(1)} s, ${rate(bytes / whole.seconds)}: ${share}% of plain writes ` +
      `(${rate(bytes / before)} before, ${rate(bytes / after)} after); ` +
      `peak ${whole.peak} (of a tenth of the rows: ${tenth.peak})`,
  );
}

function rate(bytesPerSecond) {
  return `${(bytesPerSecond / 1e6).toFixed(0)} MB/s`;
}

/** Seconds that writing and syncing as many bytes takes. */
async function plainWrite() {
  const path = join(folder, 'plain');
  const block = Buffer.alloc(8 << 20, 0x5a);
  const begun = performance.now();
  const file = await open(path, 'w');
  for (let at = 0; at < bytes; ) at += (await file.write(block, 0, Math.min(block.length, bytes - at))).bytesWritten;
  await file.sync();
  await file.close();
  const seconds = (performance.now() - begun) / 1000;
  rmSync(path);
  return seconds;
}

/** Seconds and peak memory of a run of the command, from its start to the bytes on the disk. */
async function sample(format, count) {
  const path = join(folder, `draws.${format}`);
  const begun = performance.now();
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', main, 'sample', '--model', model, '--count', String(count), '--seed', '1', '--output', path],
    { stdio: 'inherit' },
  );
  let peak = platform() === 'linux' ? 'unknown' : 'unknown (only Linux tells)';
  const watch = setInterval(() => {
    peak = peakOf(child.pid) ?? peak;
  }, 20);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(watch);
  if (code !== 0) process.exit(1);
  const file = await open(path, 'r+');
  await file.sync();
  await file.close();
  const seconds = (performance.now() - begun) / 1000;
  rmSync(path);
  return { seconds, peak };
}

/** The most memory that a living process had: VmHWM. */
function peakOf(pid) {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes && `${Math.round(kilobytes / 1024)} MiB`;
  } catch {
    return undefined;
  }
}
