// node test/harness/releases.mjs [releases]
//
// Tests the newest release of each line of Node that the package supports, from the npm package `node`: some of the
// tests (except on the line of the Node that runs this, which `npm test` covers), the examples, the main job and the
// packed tarball; on the oldest and the newest release also the program of each page. Prints a line for each release;
// the last line sums up: N passed, N failed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const asked = process.argv.slice(2);
const releases = asked.length > 0 ? asked : ['20.19', '22', '24', '26'];

/** Tests for which the engine matters: memory that is detached, promises, workers, exits, streams, files. */
const quick = [
  ...['array/', 'command/', 'file/output', 'table/read-table', 'normal/draw', 'normal/conditional'],
  ...['contract/device', 'contract/errors', 'contract/external-buffers', 'kernel/kernel'],
  ...['native/exit', 'native/host-memory', 'native/workers'],
];

const lineOf = (version) => version.split('.')[0];

/** The program of a release, installed if it is not there yet; a build folder keeps it. */
function nodeOf(release) {
  const folder = join(root, 'build-node', release);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const install = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder, `node@${release}`];
  const { status, stderr } = spawnSync('npm', install, { encoding: 'utf8' });
  const program = join(folder, 'node_modules', 'node', 'bin', 'node');
  if (status !== 0 || !existsSync(program)) throw new Error(`npm install node@${release} fails:\n${stderr}`);
  return program;
}

const scratch = mkdtempSync(join(tmpdir(), 'covarium-releases-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch];
const packed = spawnSync('npm', pack, { cwd: root, encoding: 'utf8' });
const tarball = join(scratch, JSON.parse(packed.stdout)[0].filename);

// Without the stand-in for Metal: the addon's own code is the same.
const { COVARIUM_ADDON = join(root, 'build', 'Release', 'covarium.node') } = process.env;
let [passed, failed] = [0, 0];

/** Runs a part of a release; returns the numbers in its last line, or 1 if it has none. */
function part(title, program, args, options = {}) {
  const PATH = `${dirname(program)}:${process.env.PATH}`;
  const { status, signal, stdout, stderr } = spawnSync(program, args, {
    cwd: scratch,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    ...options,
    env: { ...process.env, PATH, ...options.env },
  });
  const [, ran = '1', broken = '0'] = /^(\d+) passed, (\d+) failed/m.exec(stdout) ?? [];
  const numbers = status === 0 ? [Number(ran), 0] : [Number(ran) - (ran === '1' ? 1 : 0), Math.max(1, Number(broken))];
  passed += numbers[0];
  failed += numbers[1];
  // Indented, since .ci/run adds up the lines that are not indented.
  if (status !== 0)
    console.log(`--- failed: ${title} (${signal ?? status})\n${`${stdout}${stderr}`.replace(/^/gm, '  ')}`);
  return status === 0 ? `${ran === '1' ? 'passed' : `${ran} passed`}` : 'FAILED';
}

for (const [index, release] of releases.entries()) {
  // The compiler takes most of an example's time, so only one release runs them all.
  const tested = index === releases.length - 1 ? [...quick, 'examples/run'] : quick;
  const begin = performance.now();
  const node = nodeOf(release);
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const tsx = ['--import', import.meta.resolve('tsx')];
  const hasTests = asked.length > 0 || lineOf(version) !== lineOf(process.version);
  const files = [...tsx, join(root, 'test/run.ts'), ...tested];
  const tests = hasTests
    ? part(`the tests on Node ${version}`, node, files, { cwd: root, env: { COVARIUM_ADDON } })
    : 'left to npm test';
  const job = part(`the main job on Node ${version}`, node, [...tsx, join(root, 'examples/penguins.ts')]);
  const trial = part(`the tarball on Node ${version}`, node, [join(root, '.ci/try-package.mjs'), tarball]);
  const hasPages = index === 0 || index === releases.length - 1;
  const programs = [...tsx, join(root, 'test/harness/pages.ts'), tarball];
  const pages = hasPages ? part(`the pages on Node ${version}`, node, programs) : 'left to the oldest and the newest';
  const seconds = ((performance.now() - begin) / 1000).toFixed(0);
  console.log(`Node ${version}: tests ${tests}, main job ${job}, tarball ${trial}, pages ${pages} (${seconds} s)`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
