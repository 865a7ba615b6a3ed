// What a kernel logs on the cpu device: a line on standard error for each call.
import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { moduleUrl, runChild } from '../harness/child.ts';

const text = `#include <metal_stdlib>
#include <metal_logging>
using namespace metal;
constant os_log own("subsystem", "category");
kernel void f(device const float* out, uint i [[thread_position_in_grid]]) {
  os_log_default.log("%u of %5.2f%% %v4hlf|%v2hd|%-4d|%x|%s|%c", i, out[i], float4(i, 1, 2, 3.5), short2(-1, 7), int(i),
                     uchar(255), "text", 'A');
  if (i == 1) own.log_error("half %g bool %d long %ld beyond %f", half(1.5h), true, long(-5));
}
kernel void long_line(device const float* out) {
  for (int i = 0; i < 2; i++)
    os_log_default.log_info("%s%s%s%s%s", TEXT, TEXT, TEXT, TEXT, TEXT);
  os_log_default.log(LONG "%d%d%s", 1, 2, "behind the end");
}
`
  .replaceAll('TEXT', `"${'x'.repeat(300)}"`)
  .replaceAll('LONG', `"${'y'.repeat(2000)}"`);

for (const compiler of ['clang++', 'g++'])
  for (const check of [false, true]) {
    const sentence = `a kernel logs lines, made by ${compiler}${check ? ' in check mode' : ''}.`;
    if (spawnSync(compiler, ['--version']).status !== 0) {
      console.log(`skipped  ${sentence} (${compiler} is not installed)`);
      test.skip(sentence);
      continue;
    }
    test(sentence, async () => {
      const { stderr } = await runChild(
        `import { openDevice } from ${JSON.stringify(moduleUrl('lib/index.ts'))};
        const device = openDevice('cpu', { threads: 1 });
        const out = new Float32Array([1.234, 5]);
        for (const [name, grid] of [['f', 2], ['long_line', 1]]) {
          const kernel = await device.kernel(${JSON.stringify(text)}, { name, check: ${check} });
          await kernel.run({ grid, arguments: { out } });
        }
        device.close();`,
        { ...process.env, COVARIUM_CXX: compiler },
      );
      assert.equal(stderr.split('\n'), [
        '0 of  1.23% 0.000000,1.000000,2.000000,3.500000|-1,7|0   |ff|text|A',
        '1 of  5.00% 1.000000,1.000000,2.000000,3.500000|-1,7|1   |ff|text|A',
        'half 1.5 bool 1 long -5 beyond ',
        'x'.repeat(1023),
        'x'.repeat(1023),
        'y'.repeat(1023),
      ]);
    });
  }

test.run();
