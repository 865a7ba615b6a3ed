// Which addon is loaded and what is reported about it, in an installed package with a prebuilt addon, a local build,
// or both.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { AddonReport } from '../../lib/addon/report.ts';
import type { DeviceReport } from '../../lib/index.ts';
import { builtAddon, installPackage, plainEnvironment } from '../harness/installed-package.ts';

const { folder, main } = installPackage();
const libc = process.platform === 'linux' ? '.glibc' : '';
const prebuilt = join(folder, 'prebuilds', `${process.platform}-${process.arch}`, `covarium${libc}.node`);
const local = join(folder, 'build', 'Release', 'covarium.node');
const manifest = join(folder, 'package.json');
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };

function devices(format: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'devices', ...format], {
    env: { ...plainEnvironment(), ...env },
    encoding: 'utf8',
  });
  assert.is(status, 0, stderr);
  return stdout;
}

const report = (env?: NodeJS.ProcessEnv) =>
  JSON.parse(devices(['--json'], env)) as { addon: AddonReport; devices: DeviceReport[] };

function place(path: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  copyFileSync(builtAddon, path);
}

test.after.each(() => {
  for (const name of ['prebuilds', 'build']) rmSync(join(folder, name), { recursive: true, force: true });
});

test('Without an addon, the report says so, and how to build one.', () => {
  const { addon, devices: found } = report();
  assert.equal([addon.path, addon.origin, addon.version, addon.warnings], ['', 'none', '', []]);
  assert.match(addon.reason, /^The native addon is not built \(No native build .*\)\. `covarium build-native` builds/);
  assert.is(found.find(({ kind }) => kind === 'cpu')!.reason, addon.reason);
  assert.match(devices([]), '\nnative addon: none\n');
});

test('An addon that does not load is named, with the reason.', () => {
  mkdirSync(join(local, '..'), { recursive: true });
  writeFileSync(local, 'This is no library.');
  const { addon } = report();
  assert.equal([addon.path, addon.origin, addon.version], [local, 'built here', '']);
  assert.match(
    addon.reason,
    /^The native addon cannot be loaded \(.*covarium\.node.*\)\. `covarium build-native` builds/,
  );
  assert.match(devices([]), `\nnative addon: ${local} (built here, not loaded)\n`);
  mkdirSync(join(prebuilt, '..'), { recursive: true });
  writeFileSync(prebuilt, 'Nor is this.');
  assert.equal(report().addon.warnings, [
    `A build on this machine (${local}) is used instead of the prebuilt addon (${prebuilt}).`,
  ]);
});

test('On musl, the C library of Alpine, the reason says that the prebuilt addon is for another C library, and what to do.', () => {
  mkdirSync(join(prebuilt, '..'), { recursive: true });
  writeFileSync(prebuilt.replace(libc, '.glibc'), 'It is not even opened.');
  const advice =
    " The prebuilt addon is for glibc; this system's C library is musl. `covarium build-native` builds one here.";
  // With /etc/alpine-release, node-gyp-build looks for musl's addon, as it does with LIBC.
  const { addon, devices: found } = report({ LIBC: 'musl' });
  assert.equal([addon.path, addon.origin], ['', 'none']);
  assert.match(addon.reason, /^The native addon is not built \(No native build .*libc=musl.*\)\. T/);
  assert.ok(addon.reason.endsWith(`).${advice}`), addon.reason);
  assert.equal(
    found.map(({ kind, chosen, reason }) => [kind, chosen, reason]),
    [...['metal', 'cuda', 'cpu'].map((kind) => [kind, false, addon.reason]), ['reference', true, '']],
  );
  const program = "import { openDevice } from 'covarium'; process.stdout.write(openDevice().kind);";
  const opened = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: folder,
    env: { ...plainEnvironment(), LIBC: 'musl' },
    encoding: 'utf8',
  });
  assert.is(opened.stdout, 'reference', opened.stderr);
  assert.match(opened.stderr, /CovariumWarning: Device \(reference\) is opened.*is musl\. `covarium build-native`/);
  // Other systems with musl load the file for glibc. This is the error of musl 1.2.3.
  const refusal = `Error loading shared library ld-linux-x86-64.so.2: No such file (needed by ${prebuilt})`;
  const preload = `data:text/javascript,process.dlopen = () => { throw new Error(${JSON.stringify(refusal)}) }`;
  writeFileSync(prebuilt, 'It is opened.');
  const other = report({ NODE_OPTIONS: `--import="${preload.replaceAll('"', '%22')}"` });
  assert.is(other.addon.reason, `The native addon cannot be loaded (${refusal}).${advice}`);
  assert.is(other.devices.find(({ chosen }) => chosen)!.kind, 'reference');
});

const sentences = {
  prebuilt: 'The prebuilt addon is loaded without a warning.',
  shadowed: 'A local build is loaded in place of a prebuilt addon, with a warning that names both.',
  version: 'An addon of another version gives a warning.',
  older: 'A local build that is older than its sources gives a warning; a prebuilt addon does not.',
  named: 'COVARIUM_ADDON goes before both, and the report says so.',
};
if (!existsSync(builtAddon)) {
  console.log(`skipped  what is said of an addon: there is none (${builtAddon}).`);
  for (const sentence of Object.values(sentences)) test.skip(sentence);
} else {
  test(sentences.prebuilt, () => {
    place(prebuilt);
    assert.equal(report().addon, { path: prebuilt, origin: 'prebuilt', version, reason: '', warnings: [] });
    assert.match(devices([]), `\nnative addon: ${prebuilt} (prebuilt, of covarium ${version})\n\n`);
  });

  test(sentences.shadowed, () => {
    place(prebuilt);
    place(local);
    const { path, origin, warnings } = report().addon;
    assert.equal([path, origin, warnings.length], [local, 'built here', 1]);
    assert.match(warnings[0]!, `(${local}) is used instead of the prebuilt addon (${prebuilt})`);
    assert.match(devices([]), `warning: ${warnings[0]}`);
    rmSync(prebuilt);
    assert.equal(report().addon.warnings, []);
    // A prebuilt addon for another C library does not fit here, so there is no warning.
    if (process.platform === 'linux') {
      copyFileSync(builtAddon, prebuilt.replace('.glibc', '.musl'));
      assert.equal(report().addon.warnings, []);
    }
  });

  test(sentences.version, () => {
    place(prebuilt);
    const text = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, text.replace(`"version": "${version}"`, '"version": "99.0.0"'));
    const { addon } = report();
    writeFileSync(manifest, text);
    assert.is(addon.version, version);
    assert.equal(addon.warnings, [`The addon is of covarium (${version}), but the package is (99.0.0).`]);
  });

  test(sentences.older, () => {
    place(local);
    utimesSync(local, 1, 1);
    assert.equal(report().addon.warnings, [`The addon (${local}) is older than its sources: build it again.`]);
    rmSync(local);
    place(prebuilt);
    utimesSync(prebuilt, 1, 1);
    assert.equal(report().addon.warnings, []);
  });

  test(sentences.named, () => {
    place(prebuilt);
    place(local);
    const { path, origin, warnings } = report({ COVARIUM_ADDON: builtAddon }).addon;
    assert.equal([path, origin, warnings], [builtAddon, 'COVARIUM_ADDON', []]);
  });
}

test.run();
