// `covarium build-native` in an installed package. A stand-in for node-gyp compiles (test/harness/fake-node-gyp.mjs);
// build.mjs runs the real one with the same code, before any test.
import { spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { builtAddon, installPackage, plainEnvironment } from '../harness/installed-package.ts';

const { folder, main } = installPackage();
const at = (...names: string[]) => join(folder, ...names);
const tools = at('..', '..', 'tools');
const stages = at('..', '..', 'stages');
const nodeGyp = at('..', '..', 'bin', 'node-gyp.js');
const seen = at('..', '..', 'seen.json');
const output = at('build', 'Release', 'covarium.node');

mkdirSync(stages);
mkdirSync(join(nodeGyp, '..'));
copyFileSync(fileURLToPath(new URL('../harness/fake-node-gyp.mjs', import.meta.url)), nodeGyp);
writeFileSync(join(nodeGyp, '..', 'package.json'), '{ "type": "module" }');

const environment = (): NodeJS.ProcessEnv => ({
  ...plainEnvironment(),
  PATH: tools,
  PYTHON: '',
  CXX: '',
  TMPDIR: stages,
  npm_config_node_gyp: nodeGyp,
  FAKE_SEEN: seen,
  FAKE_ADDON: builtAddon,
});

function build(env: NodeJS.ProcessEnv = {}, ...options: string[]): { status: number | null; stderr: string } {
  return spawnSync(process.execPath, [main, 'build-native', ...options], {
    env: { ...environment(), ...env },
    encoding: 'utf8',
  });
}

/** Commands that answer `--version`, as the real ones do. */
function provide(...names: string[]): void {
  mkdirSync(tools, { recursive: true });
  for (const name of names) writeFileSync(join(tools, name), '#!/bin/sh\n', { mode: 0o755 });
}

test.before.each(() => {
  for (const path of [tools, at('build'), seen]) rmSync(path, { recursive: true, force: true });
});

/** No test may leave anything behind. */
test.after.each(() => {
  assert.equal(readdirSync(stages), [], 'the folder of the build is gone');
  const left = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  assert.equal(
    left.filter((path) => /binding\.gyp$|\.partial$/.test(path)),
    [join('dist', 'binding.gyp')],
  );
});

test('A missing tool is reported by its name, with what installs it.', () => {
  const missing = (pattern: RegExp, env?: NodeJS.ProcessEnv) => {
    const { status, stderr } = build(env);
    assert.is(status, 1);
    assert.match(stderr, pattern);
    assert.match(stderr, '[ERR_TOOLCHAIN_MISSING]');
  };
  const install = process.platform === 'darwin' ? 'xcode-select --install' : 'apt-get install python3 make g\\+\\+';
  missing(new RegExp(`Python 3 is not found \\(python3, python\\)\\. Install it: .*${install}`));
  provide('python3');
  missing(/make is not found \(gmake, make\)/);
  provide('make');
  missing(/A C\+\+ compiler is not found \(g\+\+, c\+\+, clang\+\+\)/);
  missing(/A C\+\+ compiler is not found \(no-such-compiler\)/, { CXX: 'no-such-compiler -m64' });
  provide('c++');
  missing(/node-gyp is not found, nor is an npm/, { npm_config_node_gyp: '' });
  assert.not.ok(existsSync(seen), 'nothing was compiled');
});

test('The node-gyp that npm brings is found by the npm on the PATH.', () => {
  provide('python3', 'make', 'g++');
  const npm = at('..', '..', 'npm');
  mkdirSync(join(npm, 'bin'), { recursive: true });
  writeFileSync(join(npm, 'bin', 'npm-cli.js'), '');
  mkdirSync(join(npm, 'node_modules', 'node-gyp', 'bin'), { recursive: true });
  writeFileSync(join(npm, 'node_modules', 'node-gyp', 'package.json'), '{ "type": "module" }');
  copyFileSync(nodeGyp, join(npm, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js'));
  symlinkSync(join(npm, 'bin', 'npm-cli.js'), join(tools, 'npm'));
  const { stderr } = build({ npm_config_node_gyp: '', FAKE_ENDING: 'found' });
  assert.match(stderr, 'found\n');
});

test('If the compiler fails, all its output is printed, and the older addon stays.', () => {
  provide('python3', 'make', 'g++');
  mkdirSync(join(output, '..'), { recursive: true });
  writeFileSync(output, 'older');
  const { status, stderr } = build({ FAKE_ENDING: 'module.cc:1: error: no such thing' });
  assert.is(status, 1);
  assert.match(stderr, 'module.cc:1: error: no such thing\n');
  assert.match(stderr, 'The native addon is not built: node-gyp fails (1). [ERR_BUILD_FAILED]');
  assert.is(readFileSync(output, 'utf8'), 'older');
});

test('An addon that is built but does not load is not put in place.', () => {
  provide('python3', 'make', 'g++');
  const { status, stderr } = build({ FAKE_ADDON: at('package.json') });
  assert.is(status, 1);
  assert.match(stderr, /The native addon is built, but doesn't load \(.*\)\. \[ERR_BUILD_FAILED\]/);
  assert.not.ok(existsSync(output));
});

test('A folder that cannot be written is refused before anything is compiled, with a hint to --output.', () => {
  provide('python3', 'make', 'g++');
  // Root may write anywhere, but not below a file.
  writeFileSync(at('build'), '');
  const { status, stderr } = build();
  assert.is(status, 1);
  assert.match(stderr, /File \(.*covarium\.node\) cannot be written \(\w+\)\. \[ERR_FILE_UNWRITABLE\]/);
  assert.match(stderr, 'Pass another file to --output');
  assert.not.ok(existsSync(seen));
});

test('A folder in place of the addon, and a name under which Node loads no addon, are refused before anything is compiled.', () => {
  provide('python3', 'make', 'g++');
  const place = at('..', '..', 'folder.node');
  mkdirSync(place);
  const refused = build({}, '--output', place);
  assert.is(refused.status, 1);
  assert.match(
    refused.stderr,
    `The addon's path (${place}) is a folder. Pass the name of a file. [ERR_FILE_UNWRITABLE]`,
  );
  assert.not.match(refused.stderr, 'Pass another file to --output', 'it is given');
  const { status, stderr } = build({}, '--output', 'addon');
  assert.is(status, 1);
  assert.match(stderr, 'Option --output must end in .node (addon). [ERR_INVALID_ARGUMENT]');
  assert.not.ok(existsSync(seen));
});

test('A read-only package can be built to --output; a missing folder for temporary files is refused.', () => {
  provide('python3', 'make', 'g++');
  const change = (mode: string) =>
    spawnSync('chmod', ['-R', mode, at('objc'), at('msl'), at('dist', 'node-addon-api')]);
  const elsewhere = at('..', '..', 'elsewhere.node');
  change('a-w');
  const { stderr } = build({ FAKE_ENDING: 'found' }, '--output', elsewhere);
  change('u+w');
  assert.match(stderr, 'found\n');
  assert.equal(JSON.parse(readFileSync(seen, 'utf8')).readOnly, []);
  const refused = build({ TMPDIR: at('none') }, '--output', elsewhere);
  assert.is(refused.status, 1);
  assert.match(
    refused.stderr,
    `File (${at('none', 'covarium-build-')}) cannot be written (its folder does not exist). [ERR_FILE_UNWRITABLE]`,
  );
  assert.equal(
    readdirSync(at('..', '..')).filter((name) => name.startsWith('elsewhere')),
    [],
    'nothing is left there',
  );
});

test('An interruption ends the build and its compilers, with 130.', async () => {
  provide('python3', 'make', 'g++');
  const child = spawn(process.execPath, [main, 'build-native'], { env: { ...environment(), FAKE_ENDING: 'never' } });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const timer = setInterval(() => {
    if (!existsSync(seen)) return;
    // Only once, because a second one would end the process at once.
    clearInterval(timer);
    child.kill('SIGINT');
  }, 20);
  assert.is(await ended, 130);
  assert.not.ok(existsSync(`${seen}.compiled`), 'nobody waits for a compiler');
});

const sentence = 'The built addon is put where it is found, or at --output.';
if (!existsSync(builtAddon)) {
  console.log(`skipped  ${sentence} There is no addon to copy (${builtAddon}).`);
  test.skip(sentence);
} else {
  test(sentence, () => {
    provide('python3', 'make', 'g++');
    const { status, stderr } = build();
    assert.is(status, 0, stderr);
    assert.match(stderr, `Built: ${output}\n`);
    const given = JSON.parse(readFileSync(seen, 'utf8'));
    assert.equal(given.missing, []);
    assert.is(given.arguments[0], 'rebuild');
    assert.match(given.folder, 'covarium-build-');
    const { stdout } = spawnSync(process.execPath, [main, 'devices'], { env: plainEnvironment(), encoding: 'utf8' });
    assert.match(stdout, `\nnative addon: ${output} (built here, of covarium `);
    const elsewhere = at('..', '..', 'elsewhere', 'covarium.node');
    assert.match(build({}, '--output', elsewhere).stderr, `Built: ${elsewhere}. Set COVARIUM_ADDON to load`);
    assert.ok(existsSync(elsewhere));
  });
}

test.run();
