// npm run verify:mac
//
// The one command for somebody with a Mac: builds, describes the GPU, runs the whole test suite on real Metal and the
// benchmarks, and writes verify-mac-report.txt to send back. On another system it does the same with the devices
// there, and says so.
import { createWriteStream, rmSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { hangs, limitedRun } from './harness/limited-run.mjs';

const folder = fileURLToPath(new URL('..', import.meta.url));
const name = 'verify-mac-report.txt';
rmSync(new URL(`../${name}`, import.meta.url), { force: true });
const report = createWriteStream(new URL(`../${name}`, import.meta.url));
// A report is sent to others, so it must not show the home folder.
const write = (text) => report.write(stripVTControlCharacters(text).replaceAll(folder, './'));

const stopping = new Set();
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.on(signal, () => {
    for (const stop of stopping) stop();
    process.exit(code);
  });

function run(title, minutes, command, args) {
  const both = (text) => {
    process.stdout.write(text);
    write(text);
  };
  both(`\n# ${title}: ${[command, ...args].join(' ')}\n\n`);
  return limitedRun(command, args, { cwd: folder, seconds: minutes * 60, write: both, stopping });
}

const facts = `${platform()} ${release()} ${arch()}, ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
write(`covarium on ${platform() === 'darwin' ? 'a Mac' : 'what is not a Mac: no measure of Metal'}\n${facts}\n`);
// Each step has the minutes after which it is stopped: several times its usual time, and in total less than the six
// hours of a CI job.
const steps = [
  ['System', 1, ...(platform() === 'darwin' ? ['sw_vers', []] : ['uname', ['-sr']])],
  ['Commit', 1, 'git', ['log', '-1', '--format=%H %cs']],
  ['Build', 30, 'npm', ['run', 'build']],
  ['Devices', 5, process.execPath, ['dist/lib/cli/main.js', 'devices']],
  ['Benchmarks', 60, 'npm', ['run', '--silent', 'bench', '--', '--output', 'out/verify-mac']],
  ['Tests', 180, 'npm', ['test']],
];
let status = 0;
for (const step of steps) {
  const ended = await run(...step);
  if (ended !== 0) status ||= ended === hangs ? hangs : 1;
  // A driver that does not answer would keep each later step waiting, too.
  if (ended === hangs) break;
}
report.end(() => {
  console.log(`\n${status === 0 ? 'All of it works' : 'Not all of it works'}. The report to send back: ${name}`);
  process.exitCode = status;
});
