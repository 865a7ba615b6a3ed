// A process looks for a BLAS library only once, so each case has its own process.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { DeviceReport } from '../../lib/index.ts';
import { moduleUrl, nodeOptions, runChild } from '../harness/child.ts';
import { noCpu } from '../harness/cpu-backend.ts';
import { program } from '../harness/program.ts';

interface Told {
  readonly devices: readonly DeviceReport[];
  /** The kind of device that openDevice() returns, and what openDevice('cpu') throws. */
  readonly opened: string;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  /** A product that the opened device computed. */
  readonly product: readonly number[];
}

const index = moduleUrl('lib/index.ts');
const {
  COVARIUM_BLAS: _blas,
  OPENBLAS_CORETYPE: _core,
  COVARIUM_DEVICE: _device,
  COVARIUM_GPU: _gpu,
  ...clean
} = process.env as {
  [name: string]: string;
};

async function tell(env: { readonly [name: string]: string }): Promise<Told> {
  const text = `
    const { listDevices, openDevice, Matrix } = await import('${index}');
    let refusal = null;
    try { openDevice('cpu').close(); } catch ({ code, message }) { refusal = { code, message }; }
    const device = openDevice();
    const a = Matrix.from([[1, 2], [3, 4]]);
    const product = device.matrix(2, 2);
    device.commandBuffer().product(a, a, product).commitSync();
    console.log(JSON.stringify({ devices: listDevices(), opened: device.kind, refusal, product: product.toArray().flat() }));`;
  const { code, stdout, stderr } = await runChild(text, { ...clean, ...env });
  assert.is(code, 0, stderr.slice(0, 2000));
  return JSON.parse(stdout);
}

const cpuOf = ({ devices }: Told) => devices.find(({ kind }) => kind === 'cpu')!;
/** The kind that is listed as chosen is the one that was opened: the first available one. */
function isOpenedAsListed({ devices, opened }: Told): void {
  assert.is(devices.find(({ chosen }) => chosen)?.kind, opened);
  assert.is(devices.find(({ available }) => available)?.kind, opened);
}

const addonLoads = !/^The native addon/.test(noCpu);

/** A test that needs the addon, but not a library that the addon can use. */
function onAddon(sentence: string, check: () => Promise<void>): void {
  if (addonLoads && process.platform === 'linux') test(sentence, check);
  else {
    console.log(`skipped  ${sentence} ${addonLoads ? 'Libraries are chosen on Linux only.' : noCpu}`);
    test.skip(sentence);
  }
}

/** If the library can't be used, lists and errors say so, and another device is opened. */
async function isRefused(library: string, ...words: string[]): Promise<void> {
  const told = await tell({ COVARIUM_BLAS: library });
  const cpu = cpuOf(told);
  assert.is(cpu.available, false);
  for (const word of [library, 'COVARIUM_BLAS', ...words])
    assert.ok(cpu.reason.includes(word), `${word}: ${cpu.reason}`);
  assert.match(cpu.reason, /^[A-Z].*\.$/);
  assert.is(told.refusal?.code, 'ERR_DEVICE_UNAVAILABLE');
  assert.ok(told.refusal?.message.includes(cpu.reason), told.refusal?.message);
  isOpenedAsListed(told);
  assert.equal(told.product, [7, 10, 15, 22]);
}

onAddon('If a library is missing, the reason names it.', () =>
  isRefused('/nonexistent.so', 'cannot open shared object file'),
);
onAddon('If a library lacks BLAS, the reason names the first missing routine.', () =>
  isRefused('libm.so.6', 'lacks the routine sgemm_'),
);
onAddon('A file that is not a library gives a reason.', () => isRefused('/etc/passwd'));
onAddon('A folder in place of a library gives a reason.', () => isRefused('/tmp'));

onAddon('An empty COVARIUM_BLAS is as if it were not set.', async () => {
  const told = await tell({ COVARIUM_BLAS: '' });
  assert.is(cpuOf(told).reason, noCpu);
  isOpenedAsListed(told);
  assert.equal(told.product, [7, 10, 15, 22]);
});

/** A test of OpenBLAS's core types; skipped if the library is another one. */
async function withOpenBlas(check: (cpu: DeviceReport) => Promise<void>): Promise<void> {
  const cpu = cpuOf(await tell({}));
  if (/OpenBLAS/.test(cpu.facts['decompositions'] ?? '')) return check(cpu);
  console.log(`skipped  OpenBLAS is not the library here (${cpu.facts['decompositions'] ?? cpu.reason})`);
}

/** What the device reports with a stand-in that passes everything on to the installed OpenBLAS. */
async function tellStandIn(flags: readonly string[]): Promise<Told> {
  const real = cpuOf(await tell({})).facts['library file']!;
  const folder = mkdtempSync(join(tmpdir(), 'covarium-blas-'));
  try {
    const library = join(folder, 'libstand-in.so');
    const source = fileURLToPath(new URL('stand-in-blas.c', import.meta.url));
    execFileSync('gcc', ['-shared', '-fPIC', ...flags, source, '-o', library, '-Wl,--no-as-needed', real, '-ldl']);
    return await tell({ COVARIUM_BLAS: library });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

onAddon('A library that recognizes the processor gives no warning.', () =>
  withOpenBlas(async (cpu) => {
    assert.equal(cpu.warnings, []);
    assert.is(cpu.name, 'Built-in BLAS');
    for (const fact of ['processor', 'kernels', 'products', 'decompositions', 'library file', 'library core type'])
      assert.ok(cpu.facts[fact], `${fact} is told`);
  }),
);

onAddon('OPENBLAS_CORETYPE below the processor is a warning that names both.', () =>
  withOpenBlas(async ({ facts }) => {
    for (const [core, set] of [
      ['Haswell', 'AVX2'],
      ['Prescott', 'SSE'],
    ] as const) {
      const has = facts['processor instruction set']!;
      if (has === set || process.arch !== 'x64') {
        console.log(`skipped  (${core}) is not below this processor (${has})`);
        continue;
      }
      const cpu = cpuOf(await tell({ OPENBLAS_CORETYPE: core }));
      assert.is(cpu.available, true);
      assert.is(cpu.warnings.length, 1, `${core}: ${cpu.facts['library core type']}`);
      for (const word of [core, set, has, 'OPENBLAS_CORETYPE'])
        assert.ok(cpu.warnings[0]!.includes(word), `${word}: ${cpu.warnings[0]}`);
    }
  }),
);

onAddon('Without a library the device uses its own products, and says what computes decompositions.', async () => {
  const told = await tell({ COVARIUM_BLAS: 'none' });
  const { available, name, reason, facts, warnings } = cpuOf(told);
  assert.equal([available, name, reason, facts['library file']], [true, 'Built-in BLAS', '', undefined]);
  assert.is(warnings.length, 1);
  assert.match(warnings[0]!, /computed in TypeScript\. COVARIUM_BLAS is none\.$/);
  assert.is(told.refusal, null);
  isOpenedAsListed(told);
  assert.equal(told.product, [7, 10, 15, 22]);
});

onAddon('If no library is installed, cpu opens, says so, and draws.', async () => {
  // Debian's folders of libraries, made empty in a separate namespace.
  const folders = readdirSync('/usr/lib', { withFileTypes: true })
    .filter((each) => each.isDirectory() && each.name.endsWith('-linux-gnu'))
    .flatMap(({ name }) => readdirSync(join('/usr/lib', name)).map((inside) => join('/usr/lib', name, inside)))
    .filter((path) => /\/(?:openblas.*|blas|lapack)$/.test(path));
  const text = `
    const { listDevices, MultivariateNormal, openDevice } = await import('${index}');
    const drawn = (kind) => {
      const device = openDevice(kind);
      const normal = MultivariateNormal.fromCovarianceSync({ device, covariance: [[4, 2], [2, 2]], singular: 'eigen' });
      return normal.sampleSync(3, { seed: 42 }).toArray().flat();
    };
    const cpu = listDevices().find(({ kind }) => kind === 'cpu');
    console.log(JSON.stringify({ cpu, here: drawn('cpu'), there: drawn('reference') }));`;
  const script = [...folders.map((each) => `mount -t tmpfs none ${each}`), 'exec "$@"'].join(' && ');
  const node = [process.execPath, ...nodeOptions, '--input-type=module', '--eval', text];
  const inside = spawnSync('unshare', ['--mount', 'sh', '-c', script, 'sh', ...node], { encoding: 'utf8', env: clean });
  const { cpu, here, there } = inside.status === 0 ? JSON.parse(inside.stdout) : { cpu: { facts: {} } };
  if (cpu.facts.products === undefined || cpu.facts['library file'] !== undefined) {
    const why = cpu.facts['library file'] ?? inside.error?.message ?? inside.stderr.trim();
    console.log(`skipped  no library: they cannot be hidden (${why})`);
    return;
  }
  assert.equal([cpu.available, cpu.facts.products, cpu.facts.decompositions], [true, 'Built-in BLAS', 'TypeScript']);
  assert.match(cpu.warnings.join(), /computed in TypeScript\. No BLAS library is installed\. .* libopenblas0\.$/);
  for (const [i, value] of there.entries()) assert.ok(Math.abs(here[i] - value) < 1e-5, `${here} ${there}`);
});

onAddon('COVARIUM_BLAS=own uses the built-in products and the decompositions of the library.', () =>
  withOpenBlas(async (byDefault) => {
    const told = await tell({ COVARIUM_BLAS: 'own' });
    assert.equal(cpuOf(told), byDefault);
    isOpenedAsListed(told);
    assert.equal(told.product, [7, 10, 15, 22]);
  }),
);

test('Accelerate computes the products unless COVARIUM_BLAS is own or none.', () => {
  const flags = ['-std=gnu++17', '-w', '-Iobjc', '-Imsl', '-Imsl/cpu'];
  const built = program('g++', flags, ['objc/cpu/choose-blas.cc', 'test/native/own-blas.cc']);
  if ('complaint' in built) {
    assert.is(built.complaint, undefined);
    console.log(`skipped  Accelerate's products: there is no g++.`);
    return;
  }
  for (const [library, expected] of [
    ['', 'Accelerate, Accelerate, unit'],
    ['own', 'Built-in BLAS, Accelerate, no unit'],
    ['none', 'Built-in BLAS, , no unit'],
  ] as const)
    assert.is(
      execFileSync(built.path, { env: { ...clean, COVARIUM_BLAS: library }, encoding: 'utf8' }).trim(),
      expected,
    );
});

onAddon('A library may be named by its file, and is then the one that is used.', () =>
  withOpenBlas(async ({ facts }) => {
    const path = facts['library file']!;
    const told = await tell({ COVARIUM_BLAS: path });
    assert.is(cpuOf(told).name, facts['decompositions']);
    assert.is(cpuOf(told).facts['products'], facts['decompositions']);
    assert.is(cpuOf(told).facts['library file'], path);
    assert.is(cpuOf(told).available, true);
    isOpenedAsListed(told);
  }),
);

onAddon(
  'A library that computes one entry at an edge wrong is refused; the reason names the routine and the shape.',
  () =>
    withOpenBlas(async () => {
      const told = await tellStandIn(['-DWRONG']);
      assert.match(
        cpuOf(told).reason,
        /^COVARIUM_BLAS names .* computes wrong numbers: dgemm of \(\d+ x \d+ x \d+\)\.$/,
      );
      assert.is(told.refusal?.code, 'ERR_DEVICE_UNAVAILABLE');
      isOpenedAsListed(told);
    }),
);

onAddon('If OpenBLAS takes the processor for an older one, it is set to the core type that fits.', () =>
  withOpenBlas(async (cpu) => {
    if (!/^AVX(?:2|-512)$/.test(cpu.facts['processor instruction set']!)) {
      console.log(`skipped  no core type is known for (${cpu.facts['processor instruction set']}).`);
      return;
    }
    const told = cpuOf(await tellStandIn([]));
    assert.match(
      told.facts['library core type']!,
      /^(?:Haswell|SkylakeX) \(asked for: by itself it took an older one\)$/,
    );
    assert.equal(told.warnings, []);
  }),
);

test.run();
