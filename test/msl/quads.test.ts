// The functions of a quad, with results known by hand: each is of the four lanes of its quad, or of fewer at the end.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { onKernelDevices } from '../harness/kernel-devices.ts';

const head = '#include <metal_stdlib>\nusing namespace metal;\n';

onKernelDevices('functions of a quad are of its four lanes.', async (device) => {
  const kernel = await device.kernel(`${head}
kernel void quads(device uint4* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  const uint v = i + 1, filling = 10 * v;
  out[4 * i] = uint4(quad_prefix_inclusive_sum(v), quad_prefix_exclusive_sum(v), quad_prefix_inclusive_product(v),
                     quad_prefix_exclusive_product(v));
  out[4 * i + 1] = uint4(uint(quad_ballot(v % 3 == 0)), quad_ballot(v > 4).all(), quad_vote(16).any(),
                         uint(quad_active_threads_mask()));
  out[4 * i + 2] = uint4(quad_shuffle_and_fill_up(v, filling, 1), quad_shuffle_and_fill_down(v, filling, 3),
                         quad_shuffle_and_fill_up(v, filling, 1, 2), quad_shuffle_and_fill_down(v, filling, 1, 2));
}`);
  const out = new Uint32Array(16 * 6);
  await kernel.run({ grid: 6, threadgroup: 6, arguments: { out } });
  const of = (part: number) => [0, 1, 2, 3, 4, 5].map((lane) => [...out.subarray(16 * lane + 4 * part).slice(0, 4)]);
  assert.equal(of(0), [
    [1, 0, 1, 1],
    [3, 1, 2, 1],
    [6, 3, 6, 2],
    [10, 6, 24, 6],
    [5, 0, 5, 1],
    [11, 5, 30, 5],
  ]);
  assert.equal(of(1)[0], [0b0100, 0, 0, 15]);
  assert.equal(of(1)[4], [0b0010, 0, 0, 3]);
  assert.equal(of(2).slice(0, 4), [
    [40, 4, 20, 2],
    [1, 10, 1, 10],
    [2, 20, 40, 4],
    [3, 30, 3, 30],
  ]);
});

test.run();
