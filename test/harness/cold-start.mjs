// npm run cold-start [-- a path to another package's entry ...]
//
// How long `import 'covarium'` takes and what it loads; then the same with the devices listed, and with one open;
// beside packages of its size. Each runs in its own process, timed from start to end, in turns. A time is the least
// of all rounds, since other work of the machine only adds to it, minus the time of a Node that does nothing.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadedModules } from './loaded-modules.mjs';

const rounds = 21;
const require = createRequire(import.meta.url);
const index = new URL('../../dist/lib/index.js', import.meta.url).href;
const covarium = `import { listDevices, openDevice } from ${JSON.stringify(index)};\n`;
const importOf = (path) => `import ${JSON.stringify(pathToFileURL(path).href)};\n`;
// Development dependencies, which an installed covarium does not have.
const others = ['fast-check', 'linkedom', 'ml-matrix', 'yaml'];

const programs = [
  ['node alone', ''],
  ["import 'covarium'", covarium],
  ['... and listDevices()', `${covarium}listDevices();`],
  ["... and openDevice('cpu')", `${covarium}openDevice('cpu').close();`],
  ["... and openDevice('reference')", `${covarium}openDevice('reference').close();`],
  ...others.map((name) => [`import '${name}'`, importOf(fileURLToPath(import.meta.resolve(name)))]),
  ...process.argv.slice(2).map((path) => [path, importOf(require.resolve(resolve(path)))]),
].map(([title, text]) => ({ title, text, times: [], loaded: undefined, fails: '' }));

/** Wall time from start to end, and processor time. */
function milliseconds({ text }) {
  const cpu = 'const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000));';
  const args = ['--input-type=module', '--eval', `${text}\n${cpu}`];
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr.match(/^\w*Error.*/m)?.[0] ?? `It fails (${status}).`);
  return { wall: performance.now() - start, cpu: Number(stdout) };
}

const least = (times, key) => Math.min(...times.map((time) => time[key]));

for (const program of programs)
  try {
    program.loaded = loadedModules(program.text);
    milliseconds(program);
  } catch (error) {
    program.fails = error.message;
  }
const work = programs.filter(({ fails }) => fails === '');
for (let round = 0; round < rounds; round++) for (const program of work) program.times.push(milliseconds(program));

const alone = programs[0].times;
const milli = (times, key, from = 0) => (least(times, key) - from).toFixed(1);
console.log(`Node ${process.versions.node}, ${cpus()[0]?.model}; the least of ${rounds} runs, in milliseconds.`);
console.log(`Node alone takes ${milli(alone, 'wall')}, and ${milli(alone, 'cpu')} of processor time.`);
console.log(
  `${'program'.padEnd(34)}${'more'.padStart(9)}${'more cpu'.padStart(9)}${'files'.padStart(9)}  native libraries`,
);
for (const { title, times, loaded, fails } of programs) {
  if (fails !== '') {
    console.log(`${title.padEnd(34)}  ${fails}`);
    continue;
  }
  const libraries = loaded.libraries.map((path) => path.split('/').at(-1)).join(', ');
  const more = ['wall', 'cpu'].map((key) => milli(times, key, least(alone, key)));
  const figures = [...more, loaded.modules.length].map((figure) => String(figure).padStart(9));
  console.log(`${title.padEnd(34)}${figures.join('')}  ${libraries}`);
}
