import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAddon } from '../../lib/addon/native.ts';
import { type DeviceKind, listDevices, MultivariateNormal, openDevice, openDeviceAsync } from '../../lib/index.ts';
import { moduleUrl, nodeOptions, runChild } from '../harness/child.ts';
import { onEveryDevice } from '../harness/every-device.ts';
import { onNative } from '../harness/on-native.ts';
import { throwsCode } from '../harness/throws-code.ts';

const names = ['COVARIUM_DEVICE', 'COVARIUM_GPU', 'COVARIUM_THREADS', 'COVARIUM_ADDON'] as const;
const env: NodeJS.ProcessEnv & Partial<Record<(typeof names)[number], string>> = process.env;
const given = { ...env };

test.after.each(() => {
  for (const name of names) {
    if (given[name] === undefined) delete env[name];
    else env[name] = given[name];
  }
});

test('Devices are listed in order of preference, missing ones with the reason.', () => {
  const devices = listDevices();
  assert.equal(
    devices.map(({ kind }) => kind),
    ['metal', 'cuda', 'cpu', 'reference'],
  );
  for (const { available, reason, name } of devices) {
    assert.is(reason === '', available);
    if (available) assert.ok(name.length > 0);
  }
  assert.ok(devices[3]!.available, 'the reference device is always there');
});

test('openDevice() opens the first device that works, which is listed as chosen.', () => {
  delete env.COVARIUM_DEVICE;
  const devices = listDevices();
  assert.is(devices.filter(({ chosen }) => chosen).length, 1);
  assert.is(
    devices.find(({ chosen }) => chosen),
    devices.find(({ available }) => available),
  );
  using device = openDevice();
  assert.is(device.kind, devices.find(({ chosen }) => chosen)!.kind);
  assert.is(device.name, devices.find(({ chosen }) => chosen)!.name);
  using same = openDevice('auto');
  assert.is(same.kind, device.kind);
});

test('COVARIUM_DEVICE overrides the default choice, but not a requested kind.', async () => {
  env.COVARIUM_DEVICE = 'reference';
  using device = openDevice();
  assert.is(device.kind, 'reference');
  assert.equal(
    listDevices().map(({ chosen }) => chosen),
    [false, false, false, true],
  );
  env.COVARIUM_DEVICE = 'abacus';
  await throwsCode('ERR_INVALID_ARGUMENT', "('abacus')", () => openDevice());
  assert.is(listDevices().filter(({ chosen }) => chosen).length, 0);
  openDevice('reference').close();
});

test('If a GPU is named, no other is opened.', async () => {
  delete env.COVARIUM_DEVICE;
  const gpuKind = process.platform === 'darwin' ? 'metal' : 'cuda';
  const { available, name, reason } = listDevices().find(({ kind }) => kind === gpuKind)!;
  const noSuchGpu = 'No such GPU 7';
  const isRefused = (work: () => unknown) => throwsCode('ERR_DEVICE_UNAVAILABLE', available ? noSuchGpu : reason, work);
  await isRefused(() => openDevice(gpuKind, { gpu: noSuchGpu }));
  await isRefused(() => openDevice('auto', { gpu: noSuchGpu }));
  await isRefused(() => openDevice(undefined, { gpu: noSuchGpu }));
  if (available) openDevice(gpuKind, { gpu: name }).close();
  env.COVARIUM_GPU = noSuchGpu;
  await isRefused(() => openDevice());
  await isRefused(() => openDevice('auto'));
  await isRefused(() => openDevice(gpuKind));
  assert.equal(
    listDevices().map(({ chosen }) => chosen),
    [false, false, false, false],
  );
  openDevice('reference').close();
  env.COVARIUM_DEVICE = 'reference';
  using device = openDevice();
  assert.is(device.kind, 'reference');
});

test('A GPU is refused if it is not a name, or if the kind has no GPUs.', async () => {
  delete env.COVARIUM_DEVICE;
  for (const gpu of ['', 7, null, ['GPU'], 4294967296n])
    await throwsCode('ERR_INVALID_ARGUMENT', 'pass a name or another id', () =>
      openDevice('auto', { gpu: gpu as string }),
    );
  for (const kind of ['cpu', 'reference'] as const)
    await throwsCode('ERR_INVALID_ARGUMENT', `Device (${kind}) has no GPU to choose (A GPU)`, () =>
      openDevice(kind, { gpu: 'A GPU' }),
    );
  env.COVARIUM_DEVICE = 'reference';
  await throwsCode('ERR_INVALID_ARGUMENT', '(A GPU)', () => openDevice(undefined, { gpu: 'A GPU' }));
});

test('A kind that is not available is refused with the reason; an unknown kind is refused as unknown.', async () => {
  for (const { kind, available, reason } of listDevices())
    if (!available) await throwsCode('ERR_DEVICE_UNAVAILABLE', reason, () => openDevice(kind));
  await throwsCode('ERR_INVALID_ARGUMENT', "('abacus')", () => openDevice('abacus' as DeviceKind));
});

test('A device is opened away from the JavaScript thread, too, with the same refusals.', async () => {
  for (const { kind, available, reason } of listDevices()) {
    if (!available) {
      await throwsCode('ERR_DEVICE_UNAVAILABLE', reason, () => openDeviceAsync(kind));
      continue;
    }
    using device = await openDeviceAsync(kind, { threads: 1 });
    using other = openDevice(kind, { threads: 1 });
    assert.equal([device.kind, device.name, device.threads], [kind, other.name, 1]);
    using normal = await MultivariateNormal.fromCovariance({ device, covariance: [[1]] });
    assert.is((await normal.sample(3, { seed: 1 })).rows, 3);
  }
  using best = await openDeviceAsync();
  using same = openDevice();
  assert.is(best.kind, same.kind);
  await throwsCode('ERR_INVALID_ARGUMENT', "('abacus')", () => openDeviceAsync('abacus' as DeviceKind));
  await throwsCode('ERR_OUT_OF_RANGE', '`threads`', () => openDeviceAsync('cpu', { threads: 0 }));
  await throwsCode('ERR_INVALID_ARGUMENT', '`gpu`', () => openDeviceAsync(undefined, { gpu: '' }));
});

onNative('A thread or a process that ends while devices are opening ends in peace.', async () => {
  const { path } = loadAddon().file!;
  const many = `
    const addon = process.getBuiltinModule('node:module').createRequire('/')(${JSON.stringify(path)});
    for (let i = 0; i < 9; i++) addon.openDeviceAsync('cpu', { threads: 2 });`;
  const inThreads = `
    const { Worker } = await import('node:worker_threads');
    const text = ${JSON.stringify(`${many} process.exit();`)};
    for (let i = 0; i < 9; i++)
      await new Promise((resolve) => new Worker(text, { eval: true }).on('exit', resolve));`;
  for (const text of [inThreads, many, `${many} process.exit(0);`]) {
    const { code, signal, stderr } = await runChild(text);
    assert.equal([code, signal, stderr], [0, null, ''], text);
  }
});

test('A missing or broken addon is reported as a reason, and is not a crash.', async () => {
  env.COVARIUM_ADDON = fileURLToPath(new URL('../no-such-addon.node', import.meta.url));
  const cpu = listDevices().find(({ kind }) => kind === 'cpu')!;
  assert.is(cpu.available, false);
  assert.match(cpu.reason, /^The native addon cannot be loaded \(.*no-such-addon.node.*\)\.$/);
  await throwsCode('ERR_DEVICE_UNAVAILABLE', cpu.reason, () => openDevice('cpu'));
  using device = openDevice('auto');
  using other = await openDeviceAsync('auto');
  assert.equal([device.kind, other.kind], ['reference', 'reference']);
  env.COVARIUM_ADDON = fileURLToPath(new URL('../../package.json', import.meta.url));
  assert.match(listDevices()[2]!.reason, /^The native addon is not covarium's/);
});

test('If only plain TypeScript is available, the process emits one warning with the reason.', async () => {
  const missing = fileURLToPath(new URL('../no-such-addon.node', import.meta.url));
  const { COVARIUM_DEVICE: _, COVARIUM_GPU: __, ...clean } = process.env as { [name: string]: string };
  const text = (opening: string) => `
    const { openDevice } = await import('${moduleUrl('lib/index.ts')}');
    ${opening}`;
  const { stderr } = await runChild(text('openDevice().close(); openDevice().close();'), {
    ...clean,
    COVARIUM_ADDON: missing,
  });
  assert.is(stderr.match(/CovariumWarning: /g)?.length, 1, stderr);
  assert.match(
    stderr,
    /CovariumWarning: Device \(reference\) is opened.*Device \(cpu\) is not available: .*no-such-addon/,
  );
  const asked = await runChild(text("openDevice('reference').close();"), { ...clean, COVARIUM_ADDON: missing });
  assert.not.match(asked.stderr, /CovariumWarning/);
});

test('Bad options are refused.', async () => {
  await throwsCode('ERR_OUT_OF_RANGE', '(0)', () => openDevice('reference', { threads: 0 }));
  await throwsCode('ERR_OUT_OF_RANGE', '(1.5)', () => openDevice('reference', { threads: 1.5 }));
  await throwsCode('ERR_UNKNOWN_OPTION', '(thread)', () => openDevice('reference', { thread: 2 } as object));
  env.COVARIUM_THREADS = 'many';
  await throwsCode('ERR_INVALID_ARGUMENT', "COVARIUM_THREADS is ('many')", () => openDevice('reference'));
});

test('Importing covarium loads no native code and no library of the command line.', () => {
  const index = moduleUrl('lib/index.ts');
  const script = `await import(${JSON.stringify(index)});
    const { createRequire } = await import('node:module');
    const loaded = Object.keys(createRequire(import.meta.url).cache ?? {});
    console.log(JSON.stringify([...loaded, ...process.report.getReport().sharedObjects]));`;
  const arguments_ = [...nodeOptions, '--input-type=module', '--eval', script];
  const loaded = JSON.parse(execFileSync(process.execPath, arguments_, { encoding: 'utf8' })) as string[];
  const unwanted = loaded.filter((path) => /commander|cli-progress|picocolors|covarium[^/]*\.node$/.test(path));
  assert.equal(unwanted, []);
});

onEveryDevice('a device describes itself, and may be closed twice.', async (device) => {
  assert.ok(device.name.length > 0);
  assert.ok(device.threads >= 1);
  assert.is(device.dtypes[0], 'float32');
  assert.is(device.closed, false);
  device.close();
  device.close();
  assert.is(device.closed, true);
  await throwsCode('ERR_CLOSED', device.name, () => device.matrix(1, 1));
  await throwsCode('ERR_CLOSED', device.name, () => device.commandBuffer());
  await throwsCode('ERR_CLOSED', device.name, () => device.memory());
});

onEveryDevice('bad shapes and sizes are refused before anything is allocated.', async (device) => {
  const before = device.memory().liveBytes;
  await throwsCode('ERR_OUT_OF_RANGE', '(-1)', () => device.matrix(-1, 2));
  await throwsCode('ERR_OUT_OF_RANGE', '(0)', () => device.matrix(2, 0));
  await throwsCode('ERR_OUT_OF_RANGE', '(2.5)', () => device.vector(2.5));
  await throwsCode('ERR_TOO_LARGE', '(36028797018963960 bytes)', () => device.vector(2 ** 53 - 2));
  await throwsCode('ERR_OUT_OF_MEMORY', '(4000000000000000 bytes)', () => device.matrix(1e9, 1e6));
  await throwsCode('ERR_INVALID_ARGUMENT', "('bfloat16')", () =>
    device.matrix(1, 1, { dtype: 'bfloat16' as 'float32' }),
  );
  await throwsCode('ERR_UNKNOWN_OPTION', '(type)', () => device.matrix(1, 1, { type: 'float32' } as object));
  assert.is(device.memory().liveBytes, before);
  device.matrix(2, 2).close();
});

test.run();
