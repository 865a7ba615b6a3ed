// Peers of the benchmark: a failing process is reported and does not block the run; installed peers compute the same
// as we do.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Contender, Prepared, Problem } from '../../bench/contender.ts';
import { Inputs } from '../../bench/inputs.ts';
import { LeftOut } from '../../bench/left-out.ts';
import { peerCases } from '../../bench/peers/cases.ts';
import { checkResult } from '../../bench/peers/check-result.ts';
import { npmPackage } from '../../bench/peers/npm-package.ts';
import { peerNames, peers } from '../../bench/peers/peers.ts';
import { startProcessPeer } from '../../bench/peers/process-peer.ts';
import { triangular } from '../../bench/suites/triangular.ts';
import { suites } from '../../bench/suites.ts';
import { Matrix, MultivariateNormal, openDevice, type Real, type RealDtype } from '../../lib/index.ts';
import { moduleUrl, nodeOptions, runNode } from '../harness/child.ts';
import { batchSize, inputsOf, tableRows } from '../harness/peer-inputs.ts';
import { once } from '../harness/source-text.ts';

const device = openDevice('reference');
const patient = { start: 60, run: 60 };

function problemOf(
  suite: string,
  name: string,
  dimension: number,
  count: number | null = null,
  dtype: RealDtype = 'float32',
): Problem {
  const inputs = inputsOf(dimension, dtype);
  return {
    suite,
    case: name,
    dtype,
    dimension,
    count,
    work: { flops: 0, bytes: 0, normals: 0 },
    inputs: () => inputs,
    tolerance: 1e-4,
  };
}

async function triangularOf(problem: Problem): Promise<Real> {
  const { run, result, close } = (await triangular.layOut(problem, device))!;
  await run();
  const values = (await result!()).slice();
  close();
  return values;
}

/** The reference device's result of the problem; undefined for draws. */
function expected(problem: Problem): Real | undefined | Promise<Real> {
  const { suite, case: name, dtype, dimension, inputs } = problem;
  const n = dimension!;
  const { mean, covariance, factor, z, a, b, table, points } = inputs();
  if (suite === 'tables') return table;
  if (suite === 'batches' && name === 'one draw each') return undefined;
  if (suite === 'triangular') return triangularOf(problem);
  const square = (values: Real | undefined) => Matrix.from(values!, { columns: n });
  using normal = MultivariateNormal.fromCovarianceSync({
    device,
    dtype: dtype!,
    mean: mean!,
    covariance: square(covariance),
  });
  if (suite === 'batches') return normal.logPdfSync(Matrix.from(points!, { columns: n })).data as Real;
  if (suite.startsWith('transform-normal')) return normal.transformSync(z!).data as Real;
  if (suite === 'cholesky') return factor;
  if (suite !== 'matrix-product' && suite !== 'matrix-vector') return undefined;
  const options = { dtype: dtype! };
  using left = device.matrix(n, n, options);
  using right = suite === 'matrix-product' ? device.matrix(n, n, options) : device.matrix(n, 1, options);
  using out = device.matrix(n, right.columns, options);
  left.data.set(a!);
  right.data.set(suite === 'matrix-product' ? b! : z!);
  device.commandBuffer().product(left, right, out).commitSync();
  return (out.data as Real).slice();
}

function assertNear(got: Float32Array | Float64Array, right: Real, tolerance: number, what: string): void {
  const largest = Math.max(...Array.from(right, Math.abs));
  const error = Math.max(...Array.from(got, (value, i) => Math.abs(value - right[i]!))) / largest;
  assert.ok(got.length === right.length && error <= tolerance, `${what} differs by (${error})`);
}

// A test that fails leaves its peers open. All are closed at the end, because their processes would keep ours from
// ending.
const opened: Contender[] = [];
test.after(async () => {
  for (const peer of opened) await peer.close();
});

async function open(starting: Promise<Contender>): Promise<Contender> {
  const peer = await starting;
  opened.push(peer);
  return peer;
}

const script = fileURLToPath(new URL('fake-peer.mjs', import.meta.url));
const fake = (behaviour: string, limits = patient): Promise<Contender> =>
  open(startProcessPeer({ name: 'fake', programs: [process.execPath], args: [script, behaviour] }, limits));

const found = (name: string, limits = patient): Promise<Contender> =>
  open(peers([name], limits).then(([peer]) => peer!));

/** The same for each test: PyTorch takes two core-seconds to start, also to find no GPU. */
const kept = once((name) => found(name));

const prepared = async (peer: Contender, problem: Problem): Promise<Prepared> => (await peer.prepare(problem))!;

async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => assert.unreachable('nothing fails') as never,
    (error: Error) => error,
  );
}

const product = problemOf('matrix-product', 'square', 3);

test('A peer takes no time from the others: its process is stopped unless it has a request.', async () => {
  if (platform() === 'win32') return console.log('skipped: a process can not be stopped on Windows');
  const peer = await fake('restless');
  const { folder } = peer.facts.facts;
  const ticks = () => readFileSync(join(folder!, 'ticks'), 'utf8').length;
  const { measure, close } = await prepared(peer, product);
  for (let round = 0; round < 2; ++round) {
    await measure(1);
    await setTimeout(100); // the signal arrives
    const before = ticks();
    await setTimeout(100);
    assert.is(ticks(), before, 'it ticks every millisecond while it runs');
  }
  assert.ok(ticks() > 0);
  await close();
});

test('A peer in a process computes, reports times and facts, and is gone with its folder after it is closed.', async () => {
  const peer = await fake('stay');
  const { name, available, about, threads, facts } = peer.facts;
  const { pid, folder } = facts;
  assert.equal([name, available, about, threads], ['fake', true, 'Fake 1.0', 2]);
  const run = await prepared(peer, product);
  assertNear((await run.result())!, (await expected(product))!, 1e-6, 'the product');
  assert.equal(await run.measure(1), { nanoseconds: [1000, 2000] });
  await run.close();
  assert.is(await peer.prepare(problemOf('cholesky', 'factor', 3)), undefined, 'a suite that it does not offer');
  assert.is(await peer.prepare({ ...product, case: 'factor by the GPU' }), undefined, 'a case that is not for peers');
  assert.ok(existsSync(folder!));
  process.kill(Number(pid), 0);
  await peer.close();
  assert.throws(() => process.kill(Number(pid), 0), /ESRCH/);
  assert.not(existsSync(folder!));
  assert.match((await failure(peer.prepare(product))).message, /closed/);
});

for (const name of platform() === 'win32' ? [] : (['SIGHUP', 'SIGINT'] as const))
  test(`A stopped peer and its folder do not outlive us (${name}).`, async () => {
    const module = JSON.stringify(moduleUrl('bench/peers/process-peer.ts'));
    const text = `
      const { startProcessPeer } = await import(${module});
      const script = { name: 'fake', programs: [process.execPath], args: [${JSON.stringify(script)}, 'stay'] };
      const { facts } = await startProcessPeer(script, { start: 60, run: 60 });
      console.log(JSON.stringify(facts.facts));
      // The first time somebody else listens, as the command does, and the peer is left to that listener.
      process.once('SIGINT', () => setImmediate(() => process.kill(process.pid, 'SIGINT')));
      process.kill(process.pid, '${name}');
      setInterval(() => {}, 1000);`;
    const { signal, stdout, stderr } = await runNode([...nodeOptions, '--input-type=module', '--eval', text]);
    assert.is(signal, name, stderr);
    const { pid, folder } = JSON.parse(stdout) as { pid: string; folder: string };
    const isThere = () => {
      try {
        process.kill(Number(pid), 0);
        // A zombie, which its new parent has not reaped.
        return platform() !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      } catch {
        return false;
      }
    };
    for (let i = 0; i < 300 && isThere(); ++i) await setTimeout(100);
    assert.not(isThere());
    assert.not(existsSync(folder));
  });

for (const [behaviour, reason] of [
  ['crash', /^The process ends with code \(3\): MemoryError: no more$/],
  ['rubbish', /^The process says what is no reply \("Segmentation fault/],
  ['array', /^The process says what is no reply \("\[1, 2\]"\)/],
  ['error', /^LinAlgError: not positive definite$/],
  ['no file', /^The peer leaves no result/],
  ['cut file', /^The result has \(64\) bytes, but the peer tells of \(9\) numbers of \(8\) bytes/],
  ['short', /^The result has \(8\) numbers, where \(9\) are asked for/],
  ['nan', /^The result has \(NaN\) at index \(7\)/],
] as const)
  test(`A peer's failure is reported, and the peer serves the next case (${behaviour}).`, async () => {
    const peer = await fake(behaviour);
    const run = await prepared(peer, product);
    assert.match((await failure(run.result())).message, reason);
    await run.close();
    const small = problemOf('matrix-product', 'square', 2);
    assertNear((await (await prepared(peer, small)).result())!, (await expected(small))!, 1e-6, 'the next product');
    await peer.close();
  });

test('A peer that writes without a request is not used any more.', async () => {
  const peer = await fake('unasked');
  const run = await prepared(peer, product);
  // Both lines may come together: then the first is the reply, and its file may be missing.
  await failure(run.result().then(() => run.measure(1)));
  await peer.close();
});

test('A peer that ends repeatedly is given up.', async () => {
  const peer = await fake('crash');
  for (let i = 0; i < 3; ++i)
    assert.match((await failure((await prepared(peer, product)).result())).message, /code \(3\)/);
  assert.match(
    (await failure(peer.prepare(product))).message,
    /^The peer has ended \(3\) times, at last so: .*MemoryError/,
  );
  await peer.close();
});

test('There must be times, and they must be positive.', async () => {
  for (const behaviour of ['times', 'no times']) {
    const peer = await fake(behaviour);
    assert.match((await failure((await prepared(peer, product)).measure(1))).message, /times that are not positive/);
    await peer.close();
  }
});

test('An endless run is left out, and so are larger cases without being tried; smaller ones are served.', async () => {
  const peer = await fake('hang', { start: 60, run: 2 });
  const error = await failure((await prepared(peer, product)).result());
  assert.instance(error, LeftOut);
  assert.match(error.message, /no answer within \(2\) s/);
  const larger = await failure(peer.prepare(problemOf('matrix-product', 'square', 4)));
  assert.instance(larger, LeftOut);
  assert.match(larger.message, /dimension \(3\)/);
  const small = problemOf('matrix-product', 'square', 2);
  assertNear((await (await prepared(peer, small)).result())!, (await expected(small))!, 1e-6, 'a smaller product');
  await peer.close();
});

test('A peer that is not available is absent, with the reason in one line.', async () => {
  const absent = async (peer: Promise<Contender>) => {
    const { facts, prepare, close } = await peer;
    assert.not(facts.available);
    assert.is(await prepare(product), undefined);
    await close();
    return facts.reason;
  };
  assert.match(await absent(fake('crash at start')), /ends with code \(1\)/);
  assert.match(await absent(fake('hang at start', { start: 1, run: 1 })), /no answer within \(1\) s/);
  assert.is(await absent(fake('absent')), 'there is no such package');
  assert.match(await absent(fake('bare greeting')), /greeting has no text "about"/);
  const nowhere = { name: 'none', programs: ['no-such-program', '/no/such/program'], args: [] };
  const reason = await absent(startProcessPeer(nowhere, patient));
  assert.is(reason, 'no-such-program is not found; /no/such/program is not found');
});

test('A peer keeps its temporary files in its folder, and is absent if the folder cannot be made.', async () => {
  const peer = await fake('well');
  const { folder, temporary } = peer.facts.facts;
  assert.is(temporary, folder);
  await peer.close();
  const { TMPDIR, TEMP, TMP } = process.env;
  const file = fileURLToPath(import.meta.url);
  Object.assign(process.env, { TMPDIR: file, TEMP: file, TMP: file });
  try {
    const { available, reason } = (await fake('well')).facts;
    assert.is(available, false);
    assert.match(reason, /^no folder can be made in \(.*peers\.test\.ts\): E[A-Z]+$/);
  } finally {
    for (const [name, value] of Object.entries({ TMPDIR, TEMP, TMP }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
});

test('COVARIUM_PYTHON and COVARIUM_R choose the interpreter.', async () => {
  const { COVARIUM_PYTHON, COVARIUM_R } = process.env;
  Object.assign(process.env, { COVARIUM_PYTHON: './no-python', COVARIUM_R: 'no-r' });
  try {
    const [numpy, mvtnorm] = await peers(['numpy', 'mvtnorm'], patient);
    assert.is(numpy!.facts.reason, `${join(process.cwd(), 'no-python')} is not found`);
    assert.is(mvtnorm!.facts.reason, 'no-r is not found');
  } finally {
    for (const [name, value] of Object.entries({ COVARIUM_PYTHON, COVARIUM_R }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
});

test('An npm package is taken from the working folder first, then from ours.', () => {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-test-'));
  try {
    assert.match((npmPackage('ml-matrix', folder) as { version: string }).version, /^6\./);
    const own = join(folder, 'node_modules', 'ml-matrix');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'package.json'), '{"name":"ml-matrix","version":"1.2.3","main":"main.js"}');
    writeFileSync(join(own, 'main.js'), 'module.exports = 7;');
    assert.equal(npmPackage('ml-matrix', folder), { exports: 7, version: '1.2.3' });
    mkdirSync(join(folder, 'node_modules', 'broken'));
    writeFileSync(join(folder, 'node_modules', 'broken', 'index.js'), 'throw new Error("a part is missing");');
    assert.is(npmPackage('broken', folder), "broken can't be loaded (a part is missing)");
    assert.is(
      npmPackage('no-such-package-here', folder),
      'no-such-package-here is not installed: npm install no-such-package-here',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('Draws are checked: length, mean, variance.', async () => {
  const problem = problemOf('sampling', 'factor kept', 3, 5000);
  const { mean, covariance } = problem.inputs();
  using normal = MultivariateNormal.fromCovarianceSync({
    device,
    mean: mean!,
    covariance: Matrix.from(covariance!, { columns: 3 }),
  });
  const draws = Float64Array.from(normal.sampleSync(4096, { seed: 1 }).data as Float32Array);
  assert.is(checkResult(problem, draws), undefined);
  const refused = (values: Float64Array, reason: RegExp) => assert.throws(() => checkResult(problem, values), reason);
  refused(draws.subarray(3), /has \(12285\) numbers, where \(12288\)/);
  refused(
    draws.map((value) => value + 2),
    /have mean/,
  );
  refused(
    draws.map((value, i) => (i % 3 === 2 ? 2 * value - 1 : value)),
    /have variance/,
  );
  const peer = await fake('constant normals');
  const error = await failure((await prepared(peer, problemOf('normals', 'fill', 3, 5000))).result());
  assert.match(error.message, /have mean \(1\.5\), where \(0\)/);
  await peer.close();
});

const cases = Object.entries(peerCases).flatMap(([suite, names]) => names.map((name) => ({ suite, name })));
// The number of cases that each peer offers: otherwise a peer that offers nothing would pass.
const offered: Readonly<Record<string, number>> = {
  'multivariate-normal': 2,
  'ml-matrix': 5,
  numpy: 9,
  'numpy-by-hand': 8,
  torch: 11,
  'torch-cuda': 8,
  cupy: 8,
  pandas: 2,
  pyarrow: 6,
  scipy: 3,
  mvtnorm: 7,
};

test('The cases of the peers are those of the suites that every device has, and each peer is in this list.', () => {
  assert.equal(Object.keys(offered), peerNames);
  for (const [suite, names] of Object.entries(peerCases)) {
    const problems = suites
      .find(({ name }) => name === suite)
      ?.problems({ dimensions: [2], counts: [1], dtypes: ['float64'] }, new Inputs());
    // Tables have one row of ours, for all devices.
    const shared = problems?.filter(({ isOptional }) => isOptional !== true || suite === 'tables');
    assert.equal([...new Set(shared?.map((problem) => problem.case))], names, suite);
  }
});

for (const name of peerNames)
  test(`${name} computes what our reference device computes, and draws from the right normal.`, async () => {
    const peer = await kept(name);
    if (!peer.facts.available) {
      assert.not(name.includes('-matrix') || name === 'multivariate-normal', 'a development dependency');
      console.log(`skipped  ${name}: ${peer.facts.reason}`);
      return;
    }
    let count = 0;
    const counts: Readonly<Record<string, number>> = {
      sampling: 5000,
      normals: 5000,
      tables: tableRows,
      batches: batchSize,
    };
    for (const dtype of peer.dtypes!)
      for (const { suite, name: each } of cases)
        for (const n of [1, 2, 13]) {
          const problem = problemOf(suite, each, n, counts[suite] ?? null, dtype);
          const run = await peer.prepare(problem);
          if (run === undefined) continue;
          const what = `${name}, ${suite}, ${each}, n = ${n}`;
          const [result, right] = [await run.result(), await expected(problem)];
          if (right === undefined) assert.is(result, undefined, what);
          else assertNear(result!, right, dtype === 'float32' ? 2e-6 : 1e-14, what);
          const { nanoseconds } = await run.measure(2);
          assert.ok(nanoseconds.length > 0 && nanoseconds.every((time) => time > 0 && time < 1e11), what);
          await run.close();
          count += 1;
        }
    assert.is(count, 3 * peer.dtypes!.length * offered[name]!);
  });

for (const [name, suite, each] of [
  ['multivariate-normal', 'sampling', 'factor kept'],
  ['numpy', 'cholesky', 'factor'],
  ['numpy-by-hand', 'cholesky', 'factor'],
  ['torch', 'sampling', 'factor included'],
  ['torch-cuda', 'sampling', 'factor included'],
  ['mvtnorm', 'cholesky', 'factor'],
] as const)
  test(`${name} fails with its own reason if a covariance is not positive definite.`, async () => {
    const peer = await kept(name);
    if (!peer.facts.available) return void console.log(`skipped  ${name}: ${peer.facts.reason}`);
    const problem = problemOf(suite, each, 2, 10, 'float64');
    const inputs = () => ({ ...problem.inputs(), covariance: Float64Array.of(1, 2, 2, 1) });
    const work = peer.prepare({ ...problem, inputs }).then((run) => run!.result());
    assert.match((await failure(work)).message, /positive|PositiveDefinite/);
  });

test('A long case is left out by the npm peers before it blocks the process.', async () => {
  for (const name of ['multivariate-normal', 'ml-matrix']) {
    const peer = await found(name, { start: 60, run: 1e-6 });
    const problem =
      name === 'ml-matrix' ? problemOf('matrix-product', 'square', 8) : problemOf('sampling', 'factor kept', 8, 100);
    assert.instance(await failure(peer.prepare(problem)), LeftOut);
  }
});

test.run();
