// npm run verify:mac
//
// The one command for somebody with a Mac: builds, says what the GPU is, runs the whole suite on real Metal and the
// benchmarks, and writes verify-mac-report.txt to send back. Elsewhere it does the same with what is there, and says
// so.
import { spawn } from 'node:child_process';
import { createWriteStream, rmSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const folder = fileURLToPath(new URL('..', import.meta.url));
const name = 'verify-mac-report.txt';
rmSync(new URL(`../${name}`, import.meta.url), { force: true });
const report = createWriteStream(new URL(`../${name}`, import.meta.url));
// A report is sent to others: it shows no home folder.
const write = (text) => report.write(stripVTControlCharacters(text).replaceAll(folder, './'));

function run(title, command, args) {
  const heading = `\n# ${title}: ${[command, ...args].join(' ')}\n\n`;
  process.stdout.write(heading);
  write(heading);
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        process.stdout.write(chunk);
        write(chunk.toString());
      });
    child.on('error', (error) => write(`${error.message}\n`));
    child.on('close', (code) => {
      write(`\nends with ${code}\n`);
      resolve(code === 0);
    });
  });
}

const facts = `${platform()} ${release()} ${arch()}, ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
write(`covarium on ${platform() === 'darwin' ? 'a Mac' : 'what is not a Mac: no measure of Metal'}\n${facts}\n`);
const steps = [
  ['System', ...(platform() === 'darwin' ? ['sw_vers', []] : ['uname', ['-sr']])],
  ['Commit', 'git', ['log', '-1', '--format=%H %cs']],
  ['Build', 'npm', ['run', 'build']],
  ['Devices', process.execPath, ['dist/lib/cli/main.js', 'devices']],
  ['Benchmarks', 'npm', ['run', '--silent', 'bench', '--', '--output', 'out/verify-mac']],
  ['Tests', 'npm', ['test']],
];
let good = true;
for (const [title, command, args] of steps) good = (await run(title, command, args)) && good;
report.end(() => {
  console.log(`\n${good ? 'All of it works' : 'Not all of it works'}. The report to send back: ${name}`);
  process.exitCode = good ? 0 : 1;
});
