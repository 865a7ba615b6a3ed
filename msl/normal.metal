#include <metal_stdlib>

#include "dialect.h"
#include "normal.h"
#include "params.h"
#include "quad.h"

// Writes the elements of a Philox block that belong to out: up to four. Blocks count from the first that the range
// touches.
inline void fill_block(device float* out, constant NormalParams& params, uint block) {
  const uint skipped = params.firstLow & 3u;
  const uint blockLow = (params.firstLow >> 2) | (params.firstHigh << 30);
  PhiloxBlock<uint> counter;
  counter.w0 = blockLow + block;
  counter.w1 = (params.firstHigh >> 2) + (counter.w0 < blockLow ? 1u : 0u);
  counter.w2 = params.streamLow;
  counter.w3 = params.streamHigh;
  const NormalBlock<float> z = normal_block<float, int, uint>(philox4x32_10(counter, params.seedLow, params.seedHigh));
  // This may be below zero in the first block: it then wraps, and is not below the bound.
  const uint base = 4u * block - skipped;
  if (skipped == 0u && base + 3u < params.count) {
    const float four[4] = {z.z0, z.z1, z.z2, z.z3};
    write_four(four, out + base);
    return;
  }
  if (base < params.count) out[base] = z.z0;
  if (base + 1u < params.count) out[base + 1u] = z.z1;
  if (base + 2u < params.count) out[base + 2u] = z.z2;
  if (base + 3u < params.count) out[base + 3u] = z.z3;
}

// Thread i writes the i-th block of each half, which share the keys of Philox's rounds.
// Grid: fill_normal_threads or more; count is below 2^32 - 4.
kernel void fill_normal(device float* out [[buffer(0)]], constant NormalParams& params [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  if (params.count == 0u) return;
  const uint blocks = ((params.firstLow & 3u) + params.count - 1u) / 4u + 1u, threads = (blocks + 1u) / 2u;
  if (i >= threads) return;
  fill_block(out, params, i);
  if (i + threads < blocks) fill_block(out, params, i + threads);
}
