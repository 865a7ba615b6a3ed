import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ExplainedCommand, ExplainedSize } from '../lib/index.ts';
import { onEveryDevice } from './harness/every-device.ts';
import { throwsCode } from './harness/throws-code.ts';

onEveryDevice('A device says which processor runs a command, and why.', (device) => {
  const asked: readonly [ExplainedCommand, ExplainedSize][] = [
    ['sample', { columns: 2 }],
    ['sample', { rows: 0, columns: 2, dtype: 'float64', onDevice: true }],
    ['factor', { columns: 1000 }],
    ['logPdf', { rows: 10, columns: 3 }],
    ['multiply', { rows: 2, inner: 3, columns: 4 }],
  ];
  for (const [command, size] of asked) {
    const { runsOn, because, cpuMs, gpuMs } = device.explain(command, size);
    assert.ok(runsOn === 'cpu' || runsOn === 'gpu', runsOn);
    assert.match(because, /^[A-Z].*\.$/);
    assert.is(cpuMs === undefined, gpuMs === undefined);
    const hasGpu = device.kind === 'metal' || device.kind === 'cuda';
    if (!hasGpu) assert.equal([runsOn, cpuMs], ['cpu', undefined]);
  }
});

onEveryDevice('What `explain` does not know is refused by name.', async (device) => {
  const explain = (command: string, size: unknown) => () =>
    device.explain(command as ExplainedCommand, size as ExplainedSize);
  await throwsCode('ERR_INVALID_ARGUMENT', "`command` is ('invert')", explain('invert', { columns: 2 }));
  await throwsCode('ERR_INVALID_ARGUMENT', '`columns`', explain('sample', { rows: 3 }));
  await throwsCode('ERR_INVALID_ARGUMENT', '`size`', explain('sample', 3));
  await throwsCode('ERR_INVALID_ARGUMENT', '`inner`', explain('multiply', { rows: 3, columns: 2 }));
  await throwsCode('ERR_OUT_OF_RANGE', '`columns`', explain('factor', { columns: 0 }));
  await throwsCode('ERR_OUT_OF_RANGE', '`rows`', explain('logPdf', { rows: -1, columns: 2 }));
  await throwsCode('ERR_UNKNOWN_OPTION', 'inner', explain('sample', { inner: 3, columns: 2 }));
  await throwsCode('ERR_INVALID_ARGUMENT', '`dtype`', explain('sample', { columns: 2, dtype: 'int32' }));
  await throwsCode('ERR_INVALID_ARGUMENT', '`onDevice`', explain('sample', { columns: 2, onDevice: 1 }));
  device.close();
  await throwsCode('ERR_CLOSED', '', explain('factor', { columns: 2 }));
});

test.run();
