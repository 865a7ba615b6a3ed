#include <metal_stdlib>

#include "dialect.h"
#include "normal.h"
#include "params.h"

// Thread i writes the elements of the i-th Philox block that belong to out: up to four. Blocks count from the first
// that the range touches. Grid: (first mod 4 + count + 3) / 4 threads or more; count is below 2^32 - 4.
kernel void fill_normal(device float* out [[buffer(0)]], constant NormalParams& params [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  if (i > 0x3fffffffu) return;  // 4 i would wrap
  const uint skipped = params.firstLow & 3u;
  const uint blockLow = (params.firstLow >> 2) | (params.firstHigh << 30);
  PhiloxBlock<uint> counter;
  counter.w0 = blockLow + i;
  counter.w1 = (params.firstHigh >> 2) + (counter.w0 < blockLow ? 1u : 0u);
  counter.w2 = params.streamLow;
  counter.w3 = params.streamHigh;
  const NormalBlock<float> z = normal_block<float, int, uint>(philox4x32_10(counter, params.seedLow, params.seedHigh));
  // This may be below zero in the first block: it then wraps, and is not below the bound.
  const uint base = 4u * i - skipped;
  if (base < params.count) out[base] = z.z0;
  if (base + 1u < params.count) out[base + 1u] = z.z1;
  if (base + 2u < params.count) out[base + 2u] = z.z2;
  if (base + 3u < params.count) out[base + 3u] = z.z3;
}
