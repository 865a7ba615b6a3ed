// Limits of address space, processes and open files. Each run works, or is refused soon and with the reason.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ending, moduleUrl, nodeOptions, runNode } from '../harness/child.ts';
import { noCpu } from '../harness/cpu-backend.ts';
import { onNative } from '../harness/on-native.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-limits-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const sampling = `
  const { openDevice, MultivariateNormal } = await import('${moduleUrl('lib/index.ts')}');
  const covariance = Array.from({ length: 8 }, (_, i) => Array.from({ length: 8 }, (_, j) => (i === j ? 2 : 0.5)));
  try {
    const device = openDevice('cpu');
    const normal = MultivariateNormal.fromCovarianceSync({ device, covariance });
    const { data } = normal.sampleSync(1000, { seed: 1 });
    normal.close();
    device.close();
    console.log('works', device.threads, data.length);
  } catch ({ code, message }) {
    console.log(code, message);
  }`;

/** The text for a process that multiplies by a library; '' is the default. */
const withLibrary = (library: string, text: string) => `process.env.COVARIUM_BLAS = '${library}';${text}`;

/** For a module's text: taken() is its address space in bytes, limit(bytes) bounds it from now on. */
const limiting = `
  import { execFileSync } from 'node:child_process';
  import { readFileSync } from 'node:fs';
  const taken = () => Number(/VmSize:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
  const limit = (bytes) => execFileSync('prlimit', ['--pid', process.pid, '--as=' + bytes + ':']);`;

const isByHand = nodeOptions.includes('tsx');
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

const whyNot = isByHand
  ? 'tsx needs more memory: npm test runs it.'
  : hasPrlimit
    ? ''
    : 'prlimit is not here (util-linux).';

function onLimits(sentence: string, check: () => Promise<void>): void {
  if (whyNot === '') return void onNative(sentence, check);
  console.log(`skipped  ${sentence} ${whyNot}`);
  test.skip(sentence);
}

/** Runs a module's text under a limit set by prlimit; with `user`, as that user by setpriv. */
function limited(limit: string, text: string, user?: number): Promise<Ending> {
  const node = [process.execPath, ...nodeOptions, '--input-type=module', '--eval', text];
  const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  return runNode(['-e', limitedBy, JSON.stringify([...as, 'prlimit', limit, ...node])]);
}

// runNode can only run node. So this node runs the command under a limit and passes on how it ended.
const limitedBy = `
  const [command, ...args] = JSON.parse(process.argv[1]);
  const { status, signal } = require('node:child_process').spawnSync(command, args, { stdio: 'inherit', timeout: 60000, killSignal: 'SIGKILL' });
  process.exitCode = signal === null ? status : 1;
  if (signal !== null) console.error(signal);`;

const { COVARIUM_TEST_ROUNDS: rounds = '1' } = process.env as NodeJS.ProcessEnv & { COVARIUM_TEST_ROUNDS?: string };
const step = Number(rounds) > 1 ? 50 : 300;

onLimits('With little address space a run works with fewer threads, or is refused with that reason.', async () => {
  let refused = 0;
  const limits = Array.from({ length: Math.floor(1300 / step) + 1 }, (_, i) => 800 + i * step);
  const library = 'libopenblas.so.0';
  const found = await runNode([...nodeOptions, '--input-type=module', '--eval', withLibrary(library, sampling)]);
  const isInstalled = found.stdout.startsWith('works');
  if (!isInstalled) console.log(`skipped  little address space with ${library}: ${found.stdout.trim()}`);
  const libraries = isInstalled ? ['', library] : [''];
  for (const [megabytes, name] of limits.flatMap((limit) => libraries.map((each) => [limit, each] as const))) {
    const { code, stdout, stderr } = await limited(`--as=${megabytes}000000`, withLibrary(name, sampling));
    // Node itself needs most of this, and more under a sanitizer or a debugger.
    if (stdout === '' && /Out of memory|Cannot allocate|Fatal/.test(stderr)) continue;
    assert.is(code, 0, `${megabytes} MB: ${stdout} ${stderr}`);
    assert.match(stdout, /^works \d+ 8000$|^ERR_DEVICE_UNAVAILABLE .*address space.*RLIMIT_AS/, `${megabytes} MB`);
    refused += stdout.startsWith('works') ? 0 : 1;
  }
  assert.ok(refused > 0, 'the smallest is refused');
});

onLimits('`covarium sample` works with little address space, with fewer devices or on the reference.', async () => {
  const model = join(folder, 'model.json');
  writeFileSync(model, JSON.stringify({ covarium: 1, mean: [0, 0], covariance: [[2, 0.5], [0.5, 1]] })); // biome-ignore format: short
  const args = ['sample', '--model', model, '--count', '20000', '--output', join(folder, 'draws.npy')];
  const text = `process.argv.push('main', ...${JSON.stringify(args)}); await import('${moduleUrl('lib/cli/main.ts')}');`;
  let worked = 0;
  for (let megabytes = 800; megabytes <= 2000; megabytes += step / 2) {
    const { code, stderr } = await limited(`--as=${megabytes}000000`, text);
    // V8 and Node end the process if they get no memory, also if the addon has no room to be loaded.
    if (code !== 0 && /Out of memory|Cannot allocate|Fatal|bad_alloc|SIG(SEGV|TRAP)/.test(stderr))
      console.log(`skipped  ${megabytes} MB: Node itself ended (${stderr.trim().split('\n').at(-1)})`);
    else if (!stderr.includes('[ERR_OUT_OF_MEMORY]')) {
      assert.is(code, 0, `${megabytes} MB: ${stderr}`);
      worked++;
    }
  }
  assert.ok(worked > 3, `${worked} limits`);
});

onLimits('If open devices hold the address space, the list of devices says so.', async () => {
  const text = `${limiting}
    const { openDevice, listDevices } = await import('${moduleUrl('lib/index.ts')}');
    limit(taken() + 2 ** 32);
    const device = openDevice('cpu');
    const cpu = () => listDevices().find(({ kind }) => kind === 'cpu');
    console.log(cpu().available);
    limit(taken() + 2 ** 23);
    const { available, reason } = cpu();
    limit('unlimited');
    console.log(available, reason, openDevice('cpu').kind);`;
  const { code, stdout, stderr } = await runNode([...nodeOptions, '--input-type=module', '--eval', text]);
  assert.is(code, 0, stderr);
  const told = /^true\nfalse .*RLIMIT_AS.* Open devices hold what BLAS needs for \(\d+\) threads: close one.* cpu$/;
  assert.match(stdout, told);
});

onLimits(
  'If memory is too short for the blocks of several lanes, one lane draws all, with the same bits.',
  async () => {
    const text = `${limiting}
    import { createHash } from 'node:crypto';
    import { DrawnRows } from '${moduleUrl('lib/run/drawn-rows.ts')}';
    import { normalStream, rowsPerBlock } from '${moduleUrl('lib/run/run.ts')}';
    const perBlock = rowsPerBlock(8, 'float32');
    const rows = perBlock * 12;
    const run = { seed: '7', stream: '3', normalStream, firstRow: '0', rows, columns: 8, dtype: 'float32', rowsPerBlock: perBlock };
    const covariance = Array.from({ length: 8 }, (_, i) => Array.from({ length: 8 }, (_, j) => (i === j ? 2 : 0.5)));
    const model = { mean: new Array(8).fill(0), covariance };
    for (const spare of [0, 1, 7, 8]) {
      const drawn = await DrawnRows.open(run, model, { kind: 'cpu' }, rows);
      if (spare > 0) limit(taken() + spare * 2 ** 20);
      const hash = createHash('sha256');
      try {
        for await (const values of drawn.rows(0n, rows)) hash.update(values);
        console.log(hash.digest('hex'));
      } catch ({ code }) {
        console.log(code);
      }
      limit('unlimited');
      drawn.close();
    }`;
    const { code, stdout, stderr } = await runNode([...nodeOptions, '--input-type=module', '--eval', text]);
    assert.is(code, 0, stderr);
    const [all, ...limited] = stdout.trim().split('\n');
    assert.equal(limited, ['ERR_OUT_OF_MEMORY', all, all]);
  },
);

onLimits('An empirical sample that does not fit in memory is refused.', async () => {
  const text = `
    const { openDevice, MultivariateNormal } = await import('${moduleUrl('lib/index.ts')}');
    using device = openDevice('reference');
    using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: [[1]] });
    for (const count of [3e7, 6e7])
      try {
        normal.sampleSync(count, { empirical: true }).close();
      } catch ({ code, name }) {
        console.log(name, code);
      }`.replaceAll('using ', 'const ');
  const { stdout, stderr } = await limited('--as=1700000000', text);
  assert.match(stdout, /^(CovariumError ERR_OUT_OF_MEMORY\n?)+$/, stderr);
});

onLimits('With too few threads allowed a call is refused, and the process ends with its own status.', async () => {
  // A limit of processes counts all processes of a user, and does not apply to root. This user has no other process.
  const user = 61_000 + (process.pid % 1000);
  const asOther = spawnSync('setpriv', [
    `--reuid=${user}`,
    `--regid=${user}`,
    '--clear-groups',
    process.execPath,
    '-v',
  ]);
  if (asOther.status !== 0) return console.log('skipped  processes: setpriv must run node as another user (as root).');
  const text = `
    process.exitCode = 5;
    const { openDevice, MultivariateNormal } = await import('${moduleUrl('lib/index.ts')}');
    try {
      const normal = MultivariateNormal.fromCovarianceSync({ device: openDevice('cpu', { threads: 4 }), covariance: [[1]] });
      console.log('works', (await normal.sample(1000000, { seed: 1 })).rows);
    } catch ({ code, message }) {
      console.log(code, message);
    }`;
  const seen = new Set<string>();
  for (let threads = 9; threads <= 40 && !seen.has('works'); threads++) {
    const { code, stdout, stderr } = await limited(`--nproc=${threads}`, text, user);
    // Node aborts if it gets no threads; a Node that can't read this folder shows nothing.
    if (stdout === '' && /SIGABRT|^$/.test(stderr) && code !== 5) continue;
    if (stderr.includes('EACCES')) return console.log("skipped  processes: another user can't read the tests.");
    assert.is(code, 5, `${threads} threads: ${stdout} ${stderr}`);
    assert.match(stdout, /^works 1000000$|^ERR_\w+ .*Resource temporarily unavailable/, `${threads} threads`);
    seen.add(stdout.split(' ')[0]!);
  }
  assert.ok(seen.size > 1, [...seen].join());
});

onNative('Too many open files are reported, and the next call works once there are fewer.', async () => {
  const text = `
    import { closeSync, openSync } from 'node:fs';
    import { loadAddon } from '${moduleUrl('lib/addon/native.ts')}';
    const { listDevices, openDevice } = await import('${moduleUrl('lib/index.ts')}');
    const files = [];
    try {
      for (;;) files.push(openSync('/dev/null'));
    } catch {}
    const during = listDevices().find(({ kind }) => kind === 'cpu');
    for (const file of files) closeSync(file);
    console.log(JSON.stringify([during.available, during.reason, openDevice('cpu').kind]));`;
  const { stdout, stderr } = await limited('--nofile=200', text);
  const [available, reason, kind] = JSON.parse(stdout || '[]');
  assert.equal([available, kind], [false, 'cpu'], stderr);
  assert.match(reason, /[Tt]oo many open files|EMFILE/);
});

test("A BLAS library that is there but can't be loaded is not reported as missing.", async () => {
  if (noCpu !== '' || process.platform !== 'linux')
    return console.log(`skipped  ${noCpu} (libraries are chosen on Linux)`);
  const { COVARIUM_BLAS: _, ...env } = process.env as { [name: string]: string };
  for (const name of ['openblas.so.0', 'openblas.so', 'mkl_rt.so.2', 'mkl_rt.so', 'blis.so.4', 'blas.so.3', 'blas.so'])
    writeFileSync(join(folder, `lib${name}`), 'no library');
  const text = `
    const { listDevices } = await import('${moduleUrl('lib/index.ts')}');
    const { available, name, warnings } = listDevices().find(({ kind }) => kind === 'cpu');
    console.log(available, name, ...warnings);`;
  const args = [...nodeOptions, '--input-type=module', '--eval', text];
  const { stdout } = await runNode(args, { ...env, LD_LIBRARY_PATH: folder });
  assert.match(
    stdout,
    /^true Built-in BLAS .* A BLAS library is installed and can't be used \(.*libopenblas\.so\.0.*\)\.$/,
  );
});

test.run();
