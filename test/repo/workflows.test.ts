// The workflows are only read as YAML, since they do not run here: what they call exists, and only what was tried is
// published.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { hangs, limitedRun } from '../harness/limited-run.mjs';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: { readonly [name: string]: unknown };
  readonly if?: string;
}

interface Job {
  readonly 'runs-on': string;
  readonly needs?: string | readonly string[];
  readonly permissions?: { readonly [name: string]: string };
  readonly env?: { readonly [name: string]: number };
  readonly strategy?: {
    readonly matrix: {
      readonly runner?: readonly string[];
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
  test(`${name} calls only what exists, and has only read permission by default.`, () => {
    const { permissions, jobs } = workflow(name);
    assert.equal(permissions, { contents: 'read' });
    for (const [title, job] of Object.entries(jobs)) {
      // GitHub ends Ubuntu 22.04's runners in April 2027.
      assert.not.match(JSON.stringify([job['runs-on'], job.strategy]), /ubuntu-2[0-2]/, title);
      for (const { uses, run } of job.steps) assert.is((uses === undefined) !== (run === undefined), true, title);
      for (const [, script] of runs(job).matchAll(/\bnpm run ([\w:-]+)/g))
        assert.ok(script! in scripts, `${title}: ${script}`);
      // In a clone, dist/ is made from lib/ and bench/.
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
  // test/harness/releases.mjs tests the same versions on one machine, from the npm package `node`.
  const script = readFileSync(join(root, 'test', 'harness', 'releases.mjs'), 'utf8');
  assert.ok(script.includes(`[${releases.map((release) => `'${release}'`).join(', ')}]`));
});

test("CI's Macs check the calls of Metal, keep the report, and warn of a driver that does not answer.", () => {
  const { env, steps, strategy, 'runs-on': runner } = workflow('ci.yml').jobs['macos']!;
  assert.match(runner, 'matrix.runner');
  assert.equal(strategy!.matrix.runner, ['macos-15', 'macos-26']);
  assert.equal(env, { MTL_DEBUG_LAYER: 1, MTL_SHADER_VALIDATION: 1 });
  const at = steps.findIndex(({ run }) => run?.includes('limited.mjs'));
  const [devices, ...later] = steps.slice(at);
  assert.is(devices!.run, 'node .ci/limited.mjs 5 node dist/lib/cli/main.js devices');
  const artifact = later.pop()!;
  for (const step of later) assert.is(step.if, "env.GPU_HANGS == ''", step.run);
  const onGpu = ['node .ci/limited.mjs 5 npm start', 'node .ci/limited.mjs 120 npm run verify:mac'];
  assert.equal(
    later.map(({ run }) => run).filter((run) => run !== 'npm run prebuilds'),
    onGpu,
  );
  assert.match(artifact.uses!, 'actions/upload-artifact@');
  assert.is(artifact.if, 'always()');
  const report = String(artifact.with!['path']);
  assert.ok(readFileSync(join(root, 'test', 'verify-mac.mjs'), 'utf8').includes(`'${report}'`), report);
  assert.match(String(artifact.with!['name']), /matrix\.runner.*matrix\.node/, 'each job has a name of its own');
});

test('A step on the GPU ends as its command does; if that does not end, a warning says so and later steps know.', () => {
  const env = join(mkdtempSync(join(tmpdir(), 'covarium-')), 'env');
  const step = (minutes: string, command: string) => {
    writeFileSync(env, '');
    const { status, stdout } = spawnSync(process.execPath, ['.ci/limited.mjs', minutes, 'bash', '-c', command], {
      cwd: root,
      env: { ...process.env, GITHUB_ENV: env },
      encoding: 'utf8',
    });
    return { status, stdout, told: readFileSync(env, 'utf8') };
  };
  for (const code of [0, 3]) {
    const { status, stdout, told } = step('1', `echo printed; exit ${code}`);
    assert.equal([status, told], [code, '']);
    assert.match(stdout, 'printed');
    assert.not.match(stdout, '::warning');
  }
  // verify:mac ends with 124 if one of its steps does not end.
  for (const [minutes, command] of [
    ['0.005', 'sleep 1000'],
    ['1', 'exit 124'],
  ] as const) {
    const { status, stdout, told } = step(minutes, command);
    assert.equal([status, told], [0, 'GPU_HANGS=true\n']);
    assert.match(stdout, `::warning title=GPU::(bash -c ${command}) does not end`);
  }
});

test('A step of verify:mac that does not end is stopped together with the processes that it started.', async () => {
  let told = '';
  const options = {
    cwd: root,
    write: (text: string) => {
      told += text;
    },
  };
  const endless = 'sleep 1000 & echo "child $!"; wait';
  assert.is(await limitedRun('bash', ['-c', endless], { ...options, seconds: 0.5 }), hangs);
  assert.match(told, /does not end within 0\.5 seconds/);
  const child = Number(/child (\d+)/.exec(told)![1]);
  while (existsSync(`/proc/${child}/cmdline`) && readFileSync(`/proc/${child}/cmdline`, 'utf8') !== '')
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.is(await limitedRun('bash', ['-c', 'exit 3'], { ...options, seconds: 60 }), 3);
  assert.match(told, 'ends with 3');
  assert.is(await limitedRun('bash', ['-c', 'true'], { ...options, seconds: 60 }), 0);
});

test('A release has every prebuilt addon, tries the tarball on each platform, and publishes the same file.', () => {
  const { on, jobs } = workflow('release.yml');
  const { prebuild, pack, try: attempt, publish } = jobs;
  assert.equal(on.push, { tags: ['v*'] });
  const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];
  const platformsOf = (job: Job) => [...new Set(job.strategy!.matrix.include!.map(({ platform }) => platform))].sort();
  assert.equal(platformsOf(prebuild!), platforms);
  assert.equal(platformsOf(attempt!), platforms);
  for (const platform of platforms) assert.match(runs(pack!), platform, 'the tarball is checked for it');
  assert.match(runs(prebuild!), 'npm run prebuilds');
  assert.match(runs(pack!), 'test -f dist/cuda-kernels.bin');
  assert.equal([pack!.needs, attempt!.needs, publish!.needs], ['prebuild', 'pack', 'try']);
  assert.match(runs(attempt!), 'node .ci/try-package.mjs');
  // Trusted publishing uses a token of this run, from which npm makes the provenance; there is no secret.
  assert.equal(publish!.permissions, { contents: 'read', 'id-token': 'write' });
  assert.match(runs(publish!), /npm publish .*covarium-.*\.tgz.* --provenance/);
  assert.not.match(readFileSync(join(folder, 'release.yml'), 'utf8'), /secrets\./);
  for (const job of [prebuild!, pack!, attempt!]) assert.is(job.permissions, undefined);
});

test.run();
