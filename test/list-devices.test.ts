import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { listDevices } from '../lib/index.ts';

const warnings = () => listDevices().flatMap((device) => device.warnings.map((text) => `${device.kind}: ${text}`));

test('An instruction set without kernels gives a warning.', () => {
  const env: NodeJS.ProcessEnv & { COVARIUM_INSTRUCTION_SET?: string } = process.env;
  const { COVARIUM_INSTRUCTION_SET: before } = env;
  try {
    for (const [set, isTold] of [
      ['sse', true],
      ['avx2', false],
      ['', false],
    ] as const) {
      env.COVARIUM_INSTRUCTION_SET = set;
      assert.is(
        warnings().some((text) => text.startsWith(`cpu: COVARIUM_INSTRUCTION_SET is (${set})`)),
        isTold,
        set,
      );
    }
  } finally {
    if (before === undefined) delete env.COVARIUM_INSTRUCTION_SET;
    else env.COVARIUM_INSTRUCTION_SET = before;
  }
});

test.run();
