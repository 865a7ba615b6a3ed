// The tarball, installed as users do: without scripts, under a path with spaces and non-ASCII letters, in a read-only
// folder.
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { listDevices, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { plainEnvironment } from '../harness/installed-package.ts';
import { InstalledTarball, noTarball } from './tarball/installed.ts';
import { typedProgram } from './tarball/typed-program.ts';

const clone = fileURLToPath(new URL('../..', import.meta.url));
const tool = (...names: string[]) => join(clone, 'node_modules', ...names);
const reason = noTarball();
const installed = reason === '' ? new InstalledTarball() : undefined;

function onTarball(sentence: string, check: (installed: InstalledTarball) => void): void {
  if (installed !== undefined) {
    test(sentence, () => check(installed));
    return;
  }
  console.log(`skipped  ${sentence} ${reason}`);
  test.skip(sentence);
}

console.log(
  `The tarball is tried on Node ${process.versions.node}; .github/workflows/ci.yml does it on 20.19, 22, 24 and 26.`,
);
if (installed?.isReadOnly === false)
  console.log('No write access is not tried: root writes anywhere, and no other user can run Node here.');

/** The output of a program that ends well and prints nothing on standard error. */
function printed({ status, stdout, stderr }: ReturnType<InstalledTarball['run']>): string {
  assert.equal([status, stderr], [0, ''], stdout);
  return stdout;
}

/**
 * What test/repo/tarball/draw.cjs must print: with an identity covariance, every device gives exactly the normals.
 */
function expectedDraws(): string {
  using device = openDevice('reference');
  const identity = [
    [1, 0],
    [0, 1],
  ];
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: identity });
  using draws = normal.sampleSync(200_000, { seed: 42 });
  const rows = [...draws.data.subarray(0, 3), draws.data.at(-1)!, true, 'ERR_CLOSED'];
  const here = listDevices().filter(({ available }) => available);
  const all = Object.fromEntries(here.map(({ kind }) => [kind, rows]));
  return JSON.stringify({ here: all, inWorker: all });
}

onTarball('The folder is not writable.', (at) => {
  if (!at.isReadOnly) return;
  for (const path of [at.project, at.folder, join(at.folder, 'prebuilds')]) {
    const { status, stderr } = at.run(
      process.execPath,
      '--eval',
      'fs.writeFileSync(process.argv[1], "")',
      join(path, 'x'),
    );
    assert.is(status, 1, path);
    assert.match(stderr, 'EACCES');
  }
});

onTarball('An import and a require draw the normals, in the main thread and in a worker.', (at) => {
  for (const name of ['import.mjs', 'require.cjs'])
    assert.is(printed(at.run(process.execPath, join(at.project, name))).trim(), expectedDraws(), name);
});

onTarball('The command runs under its name: devices, fit, sample, plot, bench, compare.', (at) => {
  const { addon, devices } = JSON.parse(printed(at.command('devices', '--json')));
  assert.equal([addon.origin, addon.warnings], ['prebuilt', []]);
  assert.is(addon.path.startsWith(at.folder), true, addon.path);
  const wanted = listDevices().map(({ kind, available }) => [kind, available]);
  assert.equal(
    devices.map(({ kind, available }: { kind: string; available: boolean }) => [kind, available]),
    wanted,
  );
  writeFileSync(join(at.work, 'data.csv'), 'a,b\n1,2\n3,1\n2,5\n4,4\n');
  printed(at.command('fit', 'data.csv', '--output', 'model.json'));
  printed(at.command('sample', '--model', 'model.json', '--count', '1000', '--seed', '1', '--output', 'draws.npy'));
  printed(at.command('plot', '--model', 'model.json', '--draws', 'draws.npy', '--output', 'picture.svg'));
  assert.match(readFileSync(join(at.work, 'picture.svg'), 'utf8'), /^<svg[\s\S]*<\/svg>\s*$/);
  const measured = at.command(
    'bench',
    'normals',
    '--quick',
    '--no-peers',
    '--time',
    '4',
    '--rounds',
    '2',
    '--output',
    'report',
  );
  assert.is(measured.status, 0, measured.stderr);
  assert.match(readFileSync(join(at.work, 'report', 'report.html'), 'utf8'), '</html>');
  assert.match(printed(at.command('compare', 'report', 'report')), 'normals');
  const refused = at.command('sample', '--count', '0', '--output', 'none.csv');
  assert.is(refused.status, 1);
  assert.match(refused.stderr, /^error: .* \[ERR_\w+\]$/m);
});

onTarball('The tests above have changed nothing in the folder.', (at) => {
  assert.ok(at.files().length > 100);
  assert.equal(at.files(), before);
});
const before = installed?.files();

onTarball(
  'A TypeScript program passes the type check: nodenext and bundler, by import and by require, with and without types of Node, with library checks.',
  (at) => {
    const project = join(at.work, 'typed');
    printed(at.run(process.execPath, '--eval', 'fs.mkdirSync(process.argv[1])', project));
    const modules = join(project, 'node_modules');
    printed(
      at.run(process.execPath, '--eval', 'fs.mkdirSync(process.argv[1], { recursive: true })', join(modules, '@types')),
    );
    symlinkSync(at.folder, join(modules, 'covarium'));
    symlinkSync(tool('@types', 'node'), join(modules, '@types', 'node'));
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    const nodenext = { module: 'nodenext' };
    const bundler = { module: 'esnext', moduleResolution: 'bundler' };
    const withNode = { types: ['node'], lib: ['es2022'] };
    const withoutNode = { types: [] };
    const required = (name: string) => `import covarium = require('covarium');\ncovarium.${name}();`;
    const texts = {
      'program.ts': typedProgram,
      'required.cts': required('listDevices'),
      'wrong.ts': 'import { noSuchThing } from "covarium";',
      'wrong.cts': required('noSuchThing'),
    };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(project, name), text);
    // One process for all settings, which reads the libraries once.
    const settings: [options: object, ...files: (keyof typeof texts)[]][] = [
      [{ ...nodenext, ...withNode }, 'program.ts', 'required.cts'],
      [{ ...nodenext, ...withoutNode }, 'program.ts'],
      [{ ...bundler, ...withNode }, 'program.ts'],
      [{ ...bundler, ...withoutNode }, 'program.ts'],
      [{ ...nodenext, ...withNode, skipLibCheck: true }, 'wrong.ts', 'wrong.cts'],
    ];
    const configs = settings.map(([options, ...names], index) => {
      const compilerOptions = { noEmit: true, strict: true, skipLibCheck: false, target: 'es2022', ...options };
      const path = join(project, `tsconfig.${index}.json`);
      writeFileSync(path, JSON.stringify({ compilerOptions, files: names }));
      return path;
    });
    const tsc = [tool('typescript', 'bin', 'tsc'), '--build', '--pretty', 'false', '--verbose', ...configs];
    const { stdout } = spawnSync(process.execPath, tsc, { encoding: 'utf8', cwd: project });
    for (const path of configs) assert.match(stdout, `Building project '${path}'`);
    const errors = [...stdout.matchAll(/^(.*)\(\d+,\d+\): error (TS\d+)/gm)].map(([, file, code]) => `${file} ${code}`);
    // The check can fail, and only the wrong files fail.
    assert.equal(errors.sort(), ['wrong.cts TS2339', 'wrong.ts TS2305'], stdout);
  },
);

onTarball('publint and attw find nothing wrong with the tarball.', (at) => {
  const judged = (...args: string[]) => spawnSync(process.execPath, args, { cwd: clone, encoding: 'utf8' });
  const lint = judged(tool('publint', 'src', 'cli.js'), 'run', at.tarball, '--strict');
  assert.equal([lint.status, /All good!/.test(lint.stdout)], [0, true], lint.stdout + lint.stderr);
  const types = judged(
    tool('@arethetypeswrong', 'cli', 'dist', 'index.js'),
    ...[at.tarball, '--profile', 'esm-only', '--no-definitely-typed', '--no-color'],
  );
  assert.is(types.status, 0, types.stdout + types.stderr);
  assert.match(types.stdout, '(ESM)');
});

onTarball('The script that tries the tarball before a release passes here.', (at) => {
  const args = [join(clone, '.ci', 'try-package.mjs'), at.tarball];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: plainEnvironment() });
  assert.is(status, 0, stderr);
  assert.match(stdout, 'prebuilt, of covarium');
});

const bun = spawnSync('bun', ['--version'], { encoding: 'utf8' });
if (bun.status !== 0) {
  const sentence = 'Bun does all that Node does.';
  console.log(`skipped  ${sentence} It is not on the PATH: npm install --global bun.`);
  test.skip(sentence);
} else
  onTarball(
    `Bun ${bun.stdout.trim()} draws the same normals, by import and by require, and lists the same devices.`,
    (at) => {
      for (const name of ['import.mjs', 'require.cjs'])
        assert.is(printed(at.run('bun', join(at.project, name))).trim(), expectedDraws(), name);
      const main = join(at.folder, 'dist', 'lib', 'cli', 'main.js');
      const { addon } = JSON.parse(printed(at.run('bun', '--bun', main, 'devices', '--json')));
      assert.equal([addon.origin, addon.warnings], ['prebuilt', []]);
    },
  );

test.run();
