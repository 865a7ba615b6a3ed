import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type CovariumError, openDevice } from '../../../lib/index.ts';
import { noCpu } from '../../harness/cpu-backend.ts';
import { throwsCode } from '../../harness/throws-code.ts';

function onCheckedCpu(sentence: string, check: (device: ReturnType<typeof openDevice>) => Promise<void>): void {
  if (noCpu !== '') {
    console.log(`skipped  check mode: ${noCpu}`);
    return;
  }
  test(sentence, async () => {
    using device = openDevice('cpu', { threads: 2 });
    await check(device);
  });
}

onCheckedCpu('pointers to another address space, which the cpu accepts, are reported.', async (device) => {
  for (const [body, line] of [
    ['threadgroup float shared[4];\n  device float* p = shared;', 5],
    ['threadgroup float shared[4]; device float* p = out;\n  p = shared;', 5],
    ['out[i] = first(values);', 4],
  ] as const) {
    const text = `float first(device const float* p) { return p[0]; }
kernel void f(device float* out [[buffer(0)]], constant float* values [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
  ${body}
  out[i] = 1;
}`;
    await device.kernel(text);
    const error = (await throwsCode('ERR_KERNEL_COMPILE', () => device.kernel(text, { check: true }))) as CovariumError;
    assert.is(error.line, line, error.message);
  }
  const { PATH } = process.env;
  const cxx = whereIs('clang++') ?? whereIs('g++')!;
  Object.assign(process.env, { PATH: '/nowhere', COVARIUM_CXX: cxx });
  try {
    const kernel = await device.kernel('kernel void f(device float* out) { out[0] = 1; }', { check: true });
    assert.match(kernel.notes[0]!, 'needs clang++');
  } finally {
    Object.assign(process.env, { PATH });
    Reflect.deleteProperty(process.env, 'COVARIUM_CXX');
  }
});

function whereIs(name: string): string | undefined {
  const { PATH = '' } = process.env;
  return PATH.split(':')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

test.run();
