// The workflows are read as what they are, YAML, since nobody runs them here: what they call is there, and nothing is
// published but what was tried.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: { readonly [name: string]: unknown };
}

interface Job {
  readonly 'runs-on': string;
  readonly needs?: string | readonly string[];
  readonly permissions?: { readonly [name: string]: string };
  readonly strategy?: {
    readonly matrix: {
      readonly node?: readonly (number | string)[];
      readonly include?: readonly { platform: string }[];
    };
  };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: { readonly push?: object };
  readonly permissions: { readonly [name: string]: string };
  readonly jobs: { readonly [name: string]: Job };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.github', 'workflows');
const names = readdirSync(folder);
const workflow = (name: string) => parse(readFileSync(join(folder, name), 'utf8')) as Workflow;
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
const runs = ({ steps }: Job) => steps.map(({ run }) => run ?? '').join('\n');

for (const name of names) {
  test(`${name} calls what is there, and may only read by default.`, () => {
    const { permissions, jobs } = workflow(name);
    assert.equal(permissions, { contents: 'read' });
    for (const [title, job] of Object.entries(jobs)) {
      // GitHub ends Ubuntu 22.04's runners in April 2027.
      assert.not.match(JSON.stringify([job['runs-on'], job.strategy]), /ubuntu-2[0-2]/, title);
      for (const { uses, run } of job.steps) assert.is((uses === undefined) !== (run === undefined), true, title);
      for (const [, script] of runs(job).matchAll(/\bnpm run ([\w:-]+)/g))
        assert.ok(script! in scripts, `${title}: ${script}`);
      // In a clone dist/ is made of lib/ and bench/.
      for (const [, path] of runs(job).matchAll(/(?:^|\bnode )((?:\.ci|dist|test)\/[\w./-]+)/gm)) {
        const source = path!.replace(/^dist\/(.*)\.js$/, '$1.ts');
        assert.ok(existsSync(join(root, source)), `${title}: ${path}`);
      }
    }
  });
}

test('CI runs the versions of Node that the package is for.', () => {
  const { linux, macos } = workflow('ci.yml').jobs;
  const releases = ['20.19', 22, 24, 26];
  assert.equal(linux!.strategy!.matrix.node, releases);
  assert.equal(macos!.strategy!.matrix.node, releases);
  // The same on one machine, from the npm package of Node.
  const script = readFileSync(join(root, 'test', 'harness', 'releases.mjs'), 'utf8');
  assert.ok(script.includes(`[${releases.map((release) => `'${release}'`).join(', ')}]`));
});

test('A release has every prebuilt addon, tries the tarball on each platform, and publishes that very file.', () => {
  const { on, jobs } = workflow('release.yml');
  const { prebuild, pack, try: attempt, publish } = jobs;
  assert.equal(on.push, { tags: ['v*'] });
  const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];
  const platformsOf = (job: Job) => [...new Set(job.strategy!.matrix.include!.map(({ platform }) => platform))].sort();
  assert.equal(platformsOf(prebuild!), platforms);
  assert.equal(platformsOf(attempt!), platforms);
  for (const platform of platforms) assert.match(runs(pack!), platform, 'the tarball is checked for it');
  assert.match(runs(prebuild!), 'npm run prebuilds');
  assert.equal([pack!.needs, attempt!.needs, publish!.needs], ['prebuild', 'pack', 'try']);
  assert.match(runs(attempt!), 'node .ci/try-package.mjs');
  // Trusted publishing: a token of this run, of which npm makes the provenance; no secret.
  assert.equal(publish!.permissions, { contents: 'read', 'id-token': 'write' });
  assert.match(runs(publish!), /npm publish .*covarium-.*\.tgz.* --provenance/);
  assert.not.match(readFileSync(join(folder, 'release.yml'), 'utf8'), /secrets\./);
  for (const job of [prebuild!, pack!, attempt!]) assert.is(job.permissions, undefined);
});

test.run();
