// What is published: the list of files, compared with test/repo/package-contents.txt, and its size.
// `COVARIUM_WRITE_CONTENTS=1 npm test -- package` updates that file; look at the changes and commit them.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { namedModulesOf } from '../harness/source-text.ts';

interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const expectation = fileURLToPath(new URL('package-contents.txt', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// npm's own output on standard error is ignored.
const answer = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
const [packed] = JSON.parse(answer) as [Packed];
const isPrebuilt = (path: string) => path.startsWith('prebuilds/');
const paths = packed.files.map(({ path }) => path).filter((path) => !isPrebuilt(path));
const kilobytes = (bytes: number) => Math.round(bytes / 1000);

/** Without a clang, build.mjs leaves it out; release.yml demands it. */
const kernels = 'dist/cuda-kernels.bin';
if (!paths.includes(kernels)) console.log(`skipped  ${kernels}: no clang has made it.`);

/** Declarations mirror lib, and another test checks them. The bundler names chunks by their content. */
const isDeclaration = (path: string) => /^dist\/lib\/.*\.d\.ts$/.test(path);
const isChunk = (path: string) => /^dist\/lib\/chunks\/[\w-]+\.js$/.test(path);

function lines(): string[] {
  const named = paths.filter((path) => !isDeclaration(path)).map((path) => (isChunk(path) ? chunks : path));
  return [...new Set(named)].sort();
}
const chunks = 'dist/lib/chunks/*.js';

test('The published files are those of test/repo/package-contents.txt.', () => {
  const { COVARIUM_WRITE_CONTENTS: write } = process.env as { COVARIUM_WRITE_CONTENTS?: string };
  if (write !== undefined) writeFileSync(expectation, `${lines().join('\n')}\n`);
  const expected = readFileSync(expectation, 'utf8').trimEnd().split('\n');
  const found = lines();
  const news = found.filter((line) => !expected.includes(line));
  const gone = expected.filter((line) => !found.includes(line) && line !== kernels);
  const advice = 'where that is meant: COVARIUM_WRITE_CONTENTS=1 npm test -- package';
  assert.equal({ news, gone }, { news: [], gone: [] }, advice);
});

test('The licences of all packages that are bundled are published, and packing fails without them.', () => {
  assert.ok(paths.includes('dist/THIRD-PARTY-NOTICES'));
  const notices = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES'), 'utf8');
  const sections = notices.split(/^-{80}$/m).slice(1);
  assert.match(notices, `code of ${sections.length} others`);
  assert.ok(sections.length > 30, `${sections.length}`);
  for (const section of sections)
    assert.match(section, /^\s*\S+ \d+\.\d+\.\d+ \([\w-]+\)\n[\s\S]*copyright/i, section.slice(0, 60));
  for (const name of ['@observablehq/plot', 'linkedom', 'd3-array', 'node-addon-api', 'commander', 'cli-progress'])
    assert.match(notices, new RegExp(`^${name} \\d`, 'm'));
  const elsewhere = mkdtempSync(join(tmpdir(), 'covarium-notices-'));
  try {
    copyFileSync(join(root, 'notices.mjs'), join(elsewhere, 'notices.mjs'));
    const { status, stderr } = spawnSync(process.execPath, [join(elsewhere, 'notices.mjs')], { encoding: 'utf8' });
    assert.equal([status, /is missing/.test(stderr)], [1, true]);
  } finally {
    rmSync(elsewhere, { recursive: true });
  }
});

test('An install consists of covarium and node-gyp-build.', () => {
  assert.equal(Object.keys(manifest.dependencies), ['node-gyp-build']);
  const main = spawnSync(process.execPath, [join(root, 'dist/lib/cli/main.js'), '--version'], { encoding: 'utf8' });
  assert.equal([main.status, main.stdout.trim()], [0, manifest.version], main.stderr);
});

test('Classes and functions have the names under which they are exported, bundled too.', async () => {
  const built: Record<string, unknown> = await import(join(root, 'dist/lib/index.js'));
  const named = Object.entries(built).filter(([, value]) => typeof value === 'function');
  assert.ok(named.length > 30);
  for (const [name, value] of named) assert.is((value as { readonly name: string }).name, name);
});

test('The declarations that the index names are published, with those that they name, and no others.', () => {
  const named = (path: string) =>
    namedModulesOf(path)
      .filter((name) => name.startsWith('dist/'))
      .map((name) => name.replace(/\.ts$/, '.d.ts'));
  const declarations = paths.filter(isDeclaration);
  const index = 'dist/lib/index.d.ts';
  assert.equal([...new Set([index, ...declarations.flatMap(named)])].sort(), declarations.sort());
  assert.ok(declarations.includes('dist/lib/normal/multivariate-normal.d.ts'), 'declarations are seen');
});

test('Nothing is published that makes npm run node-gyp or a script, or that only our clone needs.', () => {
  assert.equal(
    paths.filter((path) => /^[^/]*\.gypi?$/.test(path)),
    [],
  );
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'])
    assert.not.ok(name in manifest.scripts, name);
  // prepack runs when the package is packed, not when it is installed, and fails without the licences.
  assert.match(manifest.scripts.prepack, /accessSync\('dist\/THIRD-PARTY-NOTICES'\)/);
  assert.equal(
    paths.filter((path) => /\.map$|^(?:test|build|examples|node_modules)\/|softmetal/.test(path)),
    [],
  );
  assert.ok(
    paths.includes('dist/binding.gyp') && paths.includes('dist/node-addon-api/napi.h'),
    'what build-native needs',
  );
  assert.is(manifest.gypfile, false, 'npm runs no node-gyp for the clone either');
  for (const name of ['os', 'cpu']) assert.not.ok(name in manifest, `${name}: the reference device runs anywhere`);
});

test('The package names its repository and subject, and only the release publishes it.', () => {
  const { repository, homepage, bugs, author, license, keywords, sideEffects } = manifest;
  const home = 'https://github.com/covarium/covarium';
  assert.equal(repository, { type: 'git', url: `git+${home}.git` });
  assert.equal([homepage, bugs], [`${home}#readme`, { url: `${home}/issues` }]);
  assert.ok(author && license === 'MIT' && new Set(keywords).size === keywords.length && keywords.length > 8);
  // lib/decomposition/operations.ts registers the operations of Matrix.
  assert.is(sideEffects, true);
  assert.not.ok('private' in manifest, 'npm publishes no private package');
  // No registry listens there, so a refusal comes before anything is sent.
  const registry = 'http://127.0.0.1:9/';
  const args = ['publish', `--registry=${registry}`, `--${registry.slice(5)}:_authToken=none`, '--fetch-retries=0'];
  const { GITHUB_ACTIONS: _, GITLAB_CI: __, ...env } = process.env;
  const { status, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', env });
  assert.equal([status, /provenance generation not supported/.test(stderr)], [1, true], stderr);
});

test('Every prebuilt addon lies where node-gyp-build looks for it.', () => {
  const prebuilt = packed.files.map(({ path }) => path).filter(isPrebuilt);
  const known = /^prebuilds\/(?:darwin-(?:arm64|x64)\/covarium\.node|linux-(?:arm64|x64)\/covarium\.glibc\.node)$/;
  assert.equal(
    prebuilt.filter((path) => !known.test(path)),
    [],
  );
});

test('The package stays small: 4.7 MB of files, and 2.5 MB for each prebuilt addon for Linux, 3.5 MB for a Mac.', () => {
  const prebuilt = packed.files.filter(({ path }) => isPrebuilt(path));
  const own = packed.unpackedSize - prebuilt.reduce((sum, { size }) => sum + size, 0);
  console.log(
    `npm pack: ${kilobytes(packed.size)} kB packed, ${kilobytes(own)} kB of files, ${prebuilt.length} prebuilt addons`,
  );
  assert.ok(own > 500_000 && own < 4_700_000, `${own} bytes`);
  for (const { path, size } of prebuilt)
    assert.ok(size > 100_000 && size < (path.includes('linux') ? 2_500_000 : 3_500_000), `${path}: ${size} bytes`);
  for (const { path, size } of packed.files) if (path === kernels) assert.ok(size < 70_000, `${path}: ${size} bytes`);
  assert.ok(packed.size < 1_250_000 + 1_085_000 * prebuilt.length, `${packed.size} bytes packed`);
});

test.run();
