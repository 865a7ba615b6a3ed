// node --import tsx test/harness/tools.mjs [covarium-1.2.3.tgz]
//
// The packed tarball under the tools that users run it with: Jest (vm modules), Vitest, Deno, bundles by esbuild,
// webpack and Rollup, and the oldest TypeScript with and without skipLibCheck. A line for each; the last one sums up: N
// passed, N failed. What cannot be installed is skipped, with a line that says so.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { typedProgram } from '../repo/tarball/typed-program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(realpathSync(tmpdir()), 'covarium-tools-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

// A tarball that was packed without a prebuilt addon uses the one that was built here.
const addon = existsSync(join(root, 'prebuilds'))
  ? {}
  : { COVARIUM_ADDON: join(root, 'build', 'Release', 'covarium.node') };
const npm = (cwd, ...args) => spawnSync('npm', args, { cwd, encoding: 'utf8' });
const run = (args, env = {}) =>
  spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, ...addon, ...env },
  });
const bin = (name) => join(folder, 'node_modules', ...name.split('/'));
const write = (name, text) => writeFileSync(join(folder, name), text);

const packed = () => {
  const { stdout } = npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder);
  return join(folder, JSON.parse(stdout)[0].filename);
};
const tarball = process.argv[2] === undefined ? packed() : resolve(process.argv[2]);

// What each tool runs: it passes typed arrays of its own realm, draws on every available device, into memory of the
// device, and provokes an error. Without the addon there would be only one device.
const trial = `
import { CovariumError, listDevices, MultivariateNormal, openDevice } from 'covarium';
export async function tried() {
  const drawn = [];
  for (const { kind } of listDevices().filter(({ available }) => available)) {
    const device = openDevice(kind);
    const covariance = Float64Array.of(1, 0, 0, 1);
    const normal = await MultivariateNormal.fromCovariance({ device, covariance, dtype: 'float32' });
    const draws = await normal.sample(200_000, { seed: 42 });
    drawn.push([...draws.data.subarray(0, 3), draws.data.at(-1)].join(' '));
    device.close();
    let code = '';
    try {
      draws.toArray();
    } catch (error) {
      code = error instanceof CovariumError ? error.code : String(error);
    }
    if (code !== 'ERR_CLOSED') throw new Error(code);
  }
  if (drawn.length < 2) throw new Error('The cpu device is missing: ' + JSON.stringify(listDevices()));
  if (new Set(drawn).size !== 1) throw new Error('The devices differ: ' + drawn.join(', '));
  return 'tried ' + drawn.length;
}
`;
const alone = "import { tried } from './trial.mjs';\nconsole.log(await tried());\n";
// CommonJS has no top-level await.
const later = "import { tried } from './trial.mjs';\ntried().then((ended) => console.log(ended));\n";
const asTest = "test('covarium', async () => expect(await tried()).toMatch(/^tried [23]$/), 60_000);\n";

const tools = [
  {
    name: 'Jest (vm modules)',
    packages: ['jest'],
    check: () => {
      write('jest.config.json', '{ "testMatch": ["**/jest.test.mjs"], "transform": {} }');
      write('jest.test.mjs', `import { tried } from './trial.mjs';\n${asTest}`);
      return run(['--experimental-vm-modules', bin('jest/bin/jest.js'), '--config', 'jest.config.json']);
    },
  },
  {
    name: 'Vitest',
    packages: ['vitest'],
    check: () => {
      const head = "import { expect, test } from 'vitest';\nimport { tried } from './trial.mjs';\n";
      write('vitest.test.mjs', head + asTest);
      return run([bin('vitest/vitest.mjs'), 'run', 'vitest.test.mjs']);
    },
  },
  {
    name: 'Deno',
    packages: ['deno'],
    check: () => {
      const env = { DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1' };
      return run([bin('deno/bin.cjs'), 'run', '--allow-all', '--node-modules-dir=manual', 'alone.mjs'], env);
    },
  },
  {
    name: 'a bundle by esbuild',
    packages: ['esbuild'],
    check: () => {
      const bundle = ['alone.mjs', '--bundle', '--platform=node', '--format=esm', '--outfile=bundle.mjs'];
      const built = run([bin('esbuild/bin/esbuild'), ...bundle, '--log-level=warning']);
      return built.status === 0 ? run(['bundle.mjs']) : built;
    },
  },
  {
    name: 'a bundle by esbuild in CommonJS',
    packages: ['esbuild'],
    check: () => {
      const bundle = ['later.mjs', '--bundle', '--platform=node', '--format=cjs', '--outfile=bundle.cjs'];
      const built = run([bin('esbuild/bin/esbuild'), ...bundle, '--log-level=error']);
      return built.status === 0 ? run(['bundle.cjs']) : built;
    },
  },
  {
    name: 'bundles by webpack, with covarium beside and inside',
    packages: ['webpack', 'webpack-cli'],
    check: () => {
      const config = (name, externals) => ({
        name,
        mode: 'production',
        target: 'node',
        entry: './later.mjs',
        output: { path: folder, filename: `${name}.cjs`, chunkFilename: `${name}-[id].cjs` },
        externals,
      });
      const both = [
        config('beside', { covarium: 'commonjs covarium' }, {}),
        config('inside', {}, { importMeta: false }),
      ];
      write('webpack.config.mjs', `export default ${JSON.stringify(both)};`);
      const built = run([bin('webpack-cli/bin/cli.js'), '--config', 'webpack.config.mjs']);
      if (built.status !== 0) return built;
      const beside = run(['beside.cjs']);
      return beside.status === 0 ? run(['inside.cjs']) : beside;
    },
  },
  {
    name: 'bundles by Rollup, with covarium beside and inside',
    packages: ['rollup', '@rollup/plugin-node-resolve'],
    check: () => {
      const plugins = ['--plugin', 'node-resolve', '--silent', '--format', 'es', '--entryFileNames', '[name].mjs'];
      for (const [into, more] of [
        ['rollup-beside', ['--external', 'covarium']],
        ['rollup-inside', []],
      ]) {
        const built = run([bin('rollup/dist/bin/rollup'), 'alone.mjs', '--dir', into, ...plugins, ...more]);
        if (built.status !== 0) return built;
        const ended = run([`${into}/alone.mjs`]);
        if (ended.status !== 0) return ended;
      }
      return { status: 0 };
    },
  },
  {
    name: 'TypeScript 5.7, the oldest without skipLibCheck',
    packages: ['typescript@5.7', '@types/node@20'],
    check: () => {
      write('program.ts', typedProgram);
      const strict = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--types', 'node'];
      return run([bin('typescript/bin/tsc'), ...strict, '--module', 'nodenext', 'program.ts']);
    },
  },
  {
    name: 'TypeScript 5.2, the oldest with skipLibCheck',
    packages: ['typescript-5.2@npm:typescript@5.2', '@types/node@20'],
    check: () => {
      write('program.ts', typedProgram);
      const strict = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--types', 'node'];
      return run([bin('typescript-5.2/bin/tsc'), ...strict, '--module', 'nodenext', 'program.ts']);
    },
  },
];

write('package.json', '{ "private": true, "type": "module" }');
write('trial.mjs', trial);
write('alone.mjs', alone);
write('later.mjs', later);
const install = (...packages) =>
  npm(folder, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', ...packages).status === 0;
if (!install(tarball)) throw new Error(`${tarball} cannot be installed.`);
// Installed together, since that is quicker; if a package cannot be installed, the others are installed one by one.
const all = install(...tools.flatMap(({ packages }) => packages));

let [passed, failed] = [0, 0];
for (const { name, packages, check } of tools) {
  if (!all && !install(...packages)) {
    console.log(`skipped  ${name}: ${packages.join(', ')} cannot be installed.`);
    continue;
  }
  const begin = performance.now();
  const { status, signal, stdout, stderr } = check();
  const seconds = `${((performance.now() - begin) / 1000).toFixed(0)} s`;
  if (status === 0) passed++;
  else failed++;
  console.log(`${name}: ${status === 0 ? 'passed' : `FAILED (${signal ?? status})`} (${seconds})`);
  // Indented, since .ci/run adds up the lines that are not indented.
  if (status !== 0) console.log(`--- failed: ${name}\n${`${stdout}${stderr}`.replace(/^/gm, '  ')}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
