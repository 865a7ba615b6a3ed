// Any failure in Metal becomes a typed error in JavaScript: nothing leaks, and the process goes on. The faults are
// those of the software stand-in (test/metal/softmetal/settings.cc).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Device,
  type ErrorCode,
  listDevices,
  type Matrix,
  MultivariateNormal,
  openDevice,
  Vector,
} from '../../lib/index.ts';
import { sanitized } from '../harness/sanitized.ts';
import { throwsCode } from '../harness/throws-code.ts';
import { onSoftMetal, skip } from './on-metal.ts';
import type { SoftMetal } from './softmetal/softmetal.ts';

const good = [
  [4, 2],
  [2, 5],
];
const indefinite = [
  [4, 2],
  [2, 0.5],
];

/** The device computes, and holds no memory afterwards. */
function works(device: Device): void {
  using rows = device.matrix(2, 2);
  device.commandBuffer().fillNormal(rows).commitSync();
  assert.ok(rows.get(0, 0) !== 0 && Number.isFinite(rows.get(1, 1)));
  using moved = MultivariateNormal.transformSync({ device, covariance: good, z: [3, -2], factor: 'gpu' });
  assert.equal(moved.toArray(), [6, -1]);
}

function holdsNothing(device: Device): void {
  assert.is(device.memory().liveBytes, 0, 'memory went back');
}

/** With a fault, `openDevice('metal')` throws a message with all of `texts`, and listDevices() says the same. */
async function isUnavailable(
  soft: SoftMetal,
  [name, value, ...texts]: readonly [string, string | number, ...string[]],
): Promise<void> {
  soft.set(name, value);
  const { message } = await throwsCode('ERR_DEVICE_UNAVAILABLE', texts[0]!, () => openDevice('metal'));
  soft.set(name, value);
  const report = listDevices().find(({ kind }) => kind === 'metal')!;
  assert.is(report.available, false);
  for (const text of texts)
    for (const told of [message, report.reason]) assert.ok(told.includes(text), `(${text}) is told: ${told}`);
  assert.equal(soft.ledger(), {}, 'nothing of it is left');
  soft.set(name, value);
  using other = openDevice();
  assert.is(other.kind, 'cpu', 'openDevice() takes the next kind');
}

const unavailable: Readonly<Record<string, readonly [name: string, value: string | number, ...texts: string[]]>> = {
  'A system without a GPU': ['noDevice', 1, 'no GPU for Metal'],
  'A GPU that is removed': ['deviceRemoved', 1, 'no GPU for Metal'],
  'A compiler that refuses': ['compileFails', 1, 'Metal compiler refuses', "undeclared identifier 'softmetal_fault'"],
  'A GPU without a queue': ['queueFails', 1, 'no command queue'],
  'A GPU without command buffers': ['commandBufferFails', 1, 'no command buffer'],
  'A kernel of the normal stream that computes zeros': ['brokenKernel', 'fill_normal', 'gives (0.0', 'normal stream'],
  'A kernel of the normal stream that is missing': [
    'missingFunction',
    'fill_normal',
    'Kernel (fill_normal) is unknown',
  ],
  'A kernel of the normal stream without a pipeline': ['pipelineFails', 'fill_normal', 'does not become a pipeline'],
  'A GPU without memory': ['allocationFailsAbove', 1, 'not to be had from the GPU'],
  'A GPU whose first command buffer fails': ['commandBufferErrorAt', 1, 'MTLCommandBufferError 2'],
};

for (const [sentence, fault] of Object.entries(unavailable))
  onSoftMetal(`${sentence} is a device that is unavailable, with the reason.`, async (soft) => {
    // The compiler runs only if the built library is refused.
    soft.set('libraryRefused', 1);
    await isUnavailable(soft, fault);
    soft.reset();
    using device = openDevice('metal');
    works(device);
  });

onSoftMetal('One of two GPUs is taken by its name or its registry id.', async (soft) => {
  soft.set('secondDevice', 1);
  const [first, second] = ['Software Metal', 'Software Metal, second'];
  const { GPU: name, 'registry id': firstId, 'other GPU': other } = listDevices()[0]!.facts;
  assert.is(name, first);
  const secondId = /registry id (\d+)/.exec(other!)?.[1];
  for (const [gpu, name] of [
    [undefined, first],
    [first, first],
    [firstId, first],
    [second, second],
    [secondId, second],
  ] as const) {
    using device = openDevice('metal', { gpu });
    assert.is(device.name, name);
    works(device);
  }
  const { message } = await throwsCode('ERR_DEVICE_UNAVAILABLE', '(Other)', () =>
    openDevice('metal', { gpu: 'Other' }),
  );
  for (const known of [first, second, secondId!]) assert.ok(message.includes(known), message);
  using one = openDevice('metal');
  using another = openDevice('metal', { gpu: second });
  using rows = one.matrix(2, 2);
  await throwsCode('ERR_FOREIGN_BUFFER', `(${second})`, () => another.commandBuffer().zeroUpper(rows));
});

onSoftMetal('Memory that is not available is ERR_OUT_OF_MEMORY, before or while a commit runs.', async (soft) => {
  using device = openDevice('metal');
  assert.ok(device.memory().pooledBytes > 0);
  soft.set('allocationFailsAt', 1);
  device.matrix(1000, 1000).close(); // the pool is emptied, and Metal asked again
  soft.set('allocationFailsAbove', 1 << 20);
  const refused = await throwsCode('ERR_OUT_OF_MEMORY', '(8000000 bytes)', () => device.matrix(1000, 2000));
  assert.match(refused.message, 'Close results that are no longer needed, or open the device cpu.');
  soft.set('allocationFailsAbove', 0);
  device.matrix(1000, 2000).close();
  using normal = MultivariateNormal.fromCovarianceSync({
    device,
    covariance: Array.from({ length: 100 }, (_, i) => new Float32Array(100).map((_, j) => (i === j ? 2 : 0.5))),
  });
  const kept = device.memory().liveBytes;
  // They need the result, scratch, or the copy of a host array; each is larger than what the pool keeps.
  const draws: readonly ((count: number) => Matrix | Promise<Matrix>)[] = [
    (count) => normal.sampleSync(count),
    (count) => normal.sample(count),
    (count) => normal.sampleSync(count, { out: new Float32Array(count * 100) }),
    (count) => normal.sample(count, { out: new Float32Array(count * 100) }),
  ];
  for (const [i, draw] of draws.entries()) {
    const count = 1000 * 2 ** i;
    soft.set('allocationFailsAbove', 1 << 15);
    await throwsCode('ERR_OUT_OF_MEMORY', 'bytes) is not to be had from the GPU', () => draw(count));
    assert.is(device.memory().liveBytes, kept);
    soft.set('allocationFailsAbove', 0);
    const drawn = await draw(count);
    assert.ok(drawn.get(count - 1, 99) !== 0);
    drawn.close();
  }
  // A command that is refused does not change those before it.
  const small = Vector.from(new Float32Array(100));
  const large = Vector.from(new Float32Array(1 << 22));
  const commands = device.commandBuffer().fillNormal(small);
  soft.set('allocationFailsAbove', 1 << 15);
  await throwsCode('ERR_OUT_OF_MEMORY', 'bytes) is not to be had from the GPU', () => commands.fillNormal(large));
  soft.set('allocationFailsAbove', 0);
  commands.commitSync();
  assert.ok(small.get(99) !== 0 && large.get(0) === 0);
  works(device);
});

onSoftMetal(
  'maxBufferLength and recommendedMaxWorkingSetSize are respected, however the memory is divided.',
  async (soft) => {
    soft.set('maxBufferLength', 1 << 20);
    soft.set('recommendedMaxWorkingSetSize', 4 << 20);
    using device = openDevice('metal');
    await throwsCode('ERR_OUT_OF_MEMORY', `(${1 << 20} bytes)`, () => device.vector((1 << 18) + 1));
    assert.ok(soft.count('largestAllocation') <= 1 << 20);
    device.vector(100_000).close();
    assert.ok(device.memory().pooledBytes > 0);
    // Host arrays have copies on the device until their commit has run.
    const filled = (...lengths: number[]) => {
      const commands = device.commandBuffer();
      for (const length of lengths) commands.fillNormal(Vector.from(new Float32Array(length)));
      return commands;
    };
    const mebibyte = 1 << 18;
    filled(mebibyte, mebibyte, mebibyte, 0.9 * mebibyte).commitSync();
    assert.ok(device.memory().pooledBytes <= 1 << 19, 'the pool was emptied for it');
    await throwsCode('ERR_OUT_OF_MEMORY', `working set (${4 << 20} bytes`, () =>
      filled(mebibyte, mebibyte, mebibyte, mebibyte, 1),
    );
    // Commands that were recorded and never committed hold their memory until they are garbage-collected.
    for (let turn = 0; turn < 100 && device.memory().liveBytes > 0; turn++) {
      globalThis.gc?.();
      await setImmediate();
    }
    holdsNothing(device);
    works(device);
  },
);

onSoftMetal('A GPU that recommends no working set, such as a virtual one, has that of the machine.', async (soft) => {
  soft.set('recommendedMaxWorkingSetSize', -1);
  using device = openDevice('metal');
  works(device);
  const { 'working set': told } = listDevices()[0]!.facts;
  assert.ok(Number.parseInt(told!, 10) > 100, told);
});

const commandBufferErrors: Readonly<Record<number, ErrorCode>> = {
  1: 'ERR_DEVICE_FAILED', // internal
  2: 'ERR_DEVICE_FAILED', // timeout
  3: 'ERR_DEVICE_FAILED', // page fault
  4: 'ERR_DEVICE_FAILED', // access revoked
  7: 'ERR_DEVICE_FAILED', // not permitted
  8: 'ERR_OUT_OF_MEMORY',
  9: 'ERR_DEVICE_FAILED', // invalid resource
  10: 'ERR_DEVICE_FAILED', // memoryless
  11: 'ERR_DEVICE_FAILED', // device removed
  12: 'ERR_DEVICE_FAILED', // stack overflow
};

/** Commits that run in one command buffer, in two with work of the CPU between, with host memory, and in slices. */
const commits: Readonly<
  Record<string, { record(device: Device, rows: Matrix): ReturnType<Device['commandBuffer']>; of: number }>
> = {
  short: { of: 1, record: (device, rows) => device.commandBuffer().fillNormal(rows) },
  staged: {
    of: 2,
    record: (device, rows) => device.commandBuffer().fillNormal(rows).requireFinite(rows).sum(rows, rows, rows),
  },
};

onSoftMetal('Each MTLCommandBufferError rejects the commit that it ends, and no other.', async (soft) => {
  using device = openDevice('metal');
  using rows = device.matrix(50, 40);
  for (const [number, code] of Object.entries(commandBufferErrors))
    for (const [name, { record, of }] of Object.entries(commits))
      for (let at = 1; at <= of; at++)
        for (const way of ['sync', 'async']) {
          soft.set('commandBufferError', number);
          soft.set('commandBufferErrorAt', at);
          const error = await throwsCode(code, `(MTLCommandBufferError ${number})`, () =>
            way === 'sync' ? record(device, rows).commitSync() : record(device, rows).commit(),
          );
          assert.is(error.message.includes('is removed'), number === '11', error.message);
          assert.match(error.message, code === 'ERR_OUT_OF_MEMORY' ? 'open the device cpu' : 'open it again');
          const next = [record(device, rows).commit(), device.commandBuffer().fillNormal(rows).commit()];
          await Promise.all(next).catch((thrown) => assert.unreachable(`after ${name} ${way}: ${thrown.message}`));
        }
  const good = Array.from({ length: 20 }, () => device.commandBuffer().fillNormal(rows));
  soft.set('commandBufferErrorAt', 7);
  const endings = await Promise.allSettled(good.map((commands) => commands.commit()));
  assert.equal(
    endings.flatMap(({ status }, i) => (status === 'rejected' ? [i] : [])),
    [6],
  );
  works(device);
});

if (sanitized) console.log('slices: the first and the last, because the sanitizer makes each of them slow');

onSoftMetal('An error of any slice of long work rejects the commit, wherever it lies.', async (soft) => {
  using device = openDevice('metal');
  using rows = device.matrix(1000, 4000);
  using row = device.vector(4000);
  const long = () => {
    const commands = device.commandBuffer();
    for (let repeat = 0; repeat < 18; repeat++) commands.addRow(rows, row);
    return commands;
  };
  soft.reset();
  await long().commit();
  const slices = soft.count('commits');
  assert.ok(slices >= 3, `(${slices}) slices`);
  // Long work takes minutes under a sanitizer: there the first slice has one error, the last the other.
  for (const [number, code] of [
    [2, 'ERR_DEVICE_FAILED'],
    [8, 'ERR_OUT_OF_MEMORY'],
  ] as const)
    for (const at of sanitized ? [number === 2 ? 1 : slices] : Array.from({ length: slices }, (_, i) => i + 1)) {
      soft.set('commandBufferError', number);
      soft.set('commandBufferErrorAt', at);
      await throwsCode(code, `(MTLCommandBufferError ${number})`, () =>
        at % 2 ? long().commit() : long().commitSync(),
      );
    }
  works(device);
});

onSoftMetal('An error does not change a host array.', async (soft) => {
  using device = openDevice('metal');
  using normal = MultivariateNormal.fromCovarianceSync({ device, covariance: good });
  for (const draw of ['sample', 'sampleSync'] as const) {
    const out = new Float32Array(20).fill(7);
    soft.set('commandBufferErrorAt', 1);
    await throwsCode('ERR_DEVICE_FAILED', 'Timeout', () => normal[draw](10, { out }));
    assert.equal(out, new Float32Array(20).fill(7));
    (await normal[draw](10, { out })).close();
    assert.ok(out.every((value) => value !== 7));
  }
});

onSoftMetal(
  'If the MPS status is not success, the CPU finds the pivot, or the error gives the status.',
  async (soft) => {
    using device = openDevice('metal');
    const factored = (covariance: number[][], way: string) => {
      const options = { device, covariance, factor: 'mps' } as const;
      return way === 'sync'
        ? MultivariateNormal.fromCovarianceSync(options)
        : MultivariateNormal.fromCovariance(options);
    };
    for (const way of ['sync', 'async'])
      for (const status of [0, -1, -2, -3]) {
        soft.set('choleskyStatus', status);
        const { pivot } = await throwsCode('ERR_NOT_POSITIVE_DEFINITE', '(1)', () => factored(indefinite, way));
        assert.is(pivot, 1, `status ${status}`);
        if (status !== 0)
          await throwsCode(
            status === -1 ? 'ERR_DEVICE_FAILED' : 'ERR_NOT_POSITIVE_DEFINITE',
            `(MPSMatrixDecompositionStatus ${status}) though the CPU can factor the matrix`,
            () => factored(good, way),
          );
        holdsNothing(device);
        soft.set('choleskyStatus', 0);
        (await factored(good, way)).close();
      }
    works(device);
  },
);

onSoftMetal(
  'If a GPU is removed, current and later work fails; a device can be opened when a GPU is back.',
  async (soft) => {
    using device = openDevice('metal');
    using rows = device.matrix(4, 4);
    soft.set('delayMs', 5);
    const flying = [rows, rows, rows].map((matrix) => device.commandBuffer().fillNormal(matrix).commit());
    soft.set('deviceRemoved', 1);
    const endings = await Promise.allSettled(flying);
    const last = endings.at(-1)!;
    assert.ok(last.status === 'rejected' && last.reason.code === 'ERR_DEVICE_FAILED', 'what waited fails');
    await throwsCode('ERR_DEVICE_FAILED', 'is removed', () => device.commandBuffer().fillNormal(rows).commitSync());
    await throwsCode('ERR_DEVICE_FAILED', 'is removed', () => device.commandBuffer().fillNormal(rows).commit());
    await throwsCode('ERR_OUT_OF_MEMORY', 'not to be had', () => device.matrix(1000, 1000));
    device.commandBuffer().requireFinite(rows).commitSync(); // the CPU's work goes on over the same bytes
    rows.close();
    device.close();
    soft.reset();
    using another = openDevice('metal');
    works(another);
  },
);

onSoftMetal('Long work is waited for, and its time is reported.', async (soft) => {
  using device = openDevice('metal');
  using rows = device.matrix(4, 4);
  soft.set('delayMs', 60);
  for (const timings of [
    device.commandBuffer().fillNormal(rows).commitSync(),
    await device.commandBuffer().fillNormal(rows).commit(),
  ]) {
    assert.ok(timings.wallMs >= 60, `wall (${timings.wallMs})`);
    assert.ok(timings.deviceMs >= 0 && timings.deviceMs < timings.wallMs, 'waiting for a turn is not running');
  }
});

const openAndTell = `import('./lib/index.ts').then((covarium) => {
  try {
    covarium.openDevice('metal');
  } catch (error) {
    console.error(error.code, error.message);
  }
})`.replaceAll("'", '"');

const measured = sanitized
  ? (sentence: string) => skip(sentence, 'The sanitizer makes it slow, and it measures time.')
  : onSoftMetal;
measured('Command buffers that overlap on the GPU do not count twice.', (soft) => {
  using device = openDevice('metal');
  using rows = device.matrix(1000, 4000);
  using row = device.vector(4000);
  soft.set('overlapMs', 50);
  const begin = performance.now();
  // The next command buffer begins before the end of this one, and reports the whole time since.
  device.commandBuffer().addRow(rows, row).commitSync();
  const commands = device.commandBuffer();
  for (let repeat = 0; repeat < 800; repeat++) commands.addRow(rows, row);
  const { deviceMs } = commands.commitSync();
  const passed = performance.now() - begin;
  assert.ok(soft.count('commits') >= 5);
  assert.ok(deviceMs > 0 && deviceMs < passed + 100, `${deviceMs} of ${passed} ms`);
});

onSoftMetal('A queue that fails after a fault says to open the device again, and that works.', async (soft) => {
  using device = openDevice('metal');
  using rows = device.matrix(2, 2);
  soft.set('errorsStay', 1);
  soft.set('commandBufferErrorAt', 1);
  const fill = (on: Device, into: Matrix) => on.commandBuffer().fillNormal(into).commit();
  await throwsCode('ERR_DEVICE_FAILED', 'open it again', () => fill(device, rows));
  await throwsCode('ERR_DEVICE_FAILED', 'MTLCommandBufferError 4', () => fill(device, rows));
  rows.close();
  device.close();
  using again = openDevice('metal');
  works(again);
});

/** Runs `check` with environment variables and a folder that is removed afterwards. */
async function captured(variables: NodeJS.ProcessEnv, check: (path: string) => void | Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-'));
  const path = join(folder, 'trace.gputrace');
  const names = ['COVARIUM_CAPTURE', ...Object.keys(variables)];
  Object.assign(process.env, variables, { COVARIUM_CAPTURE: path });
  try {
    await check(path);
  } finally {
    for (const name of names) delete process.env[name];
    rmSync(folder, { recursive: true });
  }
}

onSoftMetal('A capture that the system refuses is an error with what to set.', async (soft) => {
  await captured({}, async (path) => {
    await throwsCode('ERR_UNSUPPORTED', 'MTL_CAPTURE_ENABLED=1', () => openDevice('metal'));
    assert.not(existsSync(path));
    assert.equal(soft.ledger(), {});
    assert.ok(listDevices()[0]!.available, 'listing a device needs no capture');
  });
});

onSoftMetal('A capture to a name that is not UTF-8 is refused.', () => {
  // JavaScript writes the environment as UTF-8, and so cannot make one.
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', `COVARIUM_CAPTURE="$(printf '/tmp/\\377')" exec "$0" --import tsx -e '${openAndTell}'`, process.execPath],
    { encoding: 'utf8', env: { ...process.env, MTL_CAPTURE_ENABLED: '1' } },
  );
  assert.is(status, 0, stderr);
  assert.match(stderr, /ERR_INVALID_ARGUMENT.*COVARIUM_CAPTURE/);
});

onSoftMetal('COVARIUM_CAPTURE records the first device that is opened, not those that are listed.', async (soft) => {
  // Both of Apple's names; the second is for older systems.
  await captured({ MTL_CAPTURE_ENABLED: '1' }, (path) => {
    assert.ok(listDevices()[0]!.available);
    assert.not(existsSync(path));
    for (let round = 0; round < 2; round++) {
      using device = openDevice('metal');
      works(device);
      assert.ok(existsSync(path));
    }
    assert.is(soft.count('captures'), 1);
  });
});

test.run();
