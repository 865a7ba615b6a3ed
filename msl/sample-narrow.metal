#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "quad.h"
#include "sample-rows.h"

// Writes elements first ... of the stream as rows of n, which are `apart` elements apart, a multiple of four.
inline void fill_rows_apart(threadgroup float* z, ulong first, uint length, uint n, uint apart, NormalStream stream,
                            uint lane, uint lanes) {
  const uint skipped = uint(first) & 3u;
  const bool isWhole = skipped == 0u && n % 4u == 0u;
  for (uint b = lane; b < (skipped + length + 3u) / 4u; b += lanes) {
    const ulong block = (first >> 2) + b;
    PhiloxBlock<uint> counter;
    counter.w0 = uint(block);
    counter.w1 = uint(block >> 32) & 0x3fffffffu;  // elements are counted modulo 2^64
    counter.w2 = stream.streamLow;
    counter.w3 = stream.streamHigh;
    const NormalBlock<float> made =
        normal_block<float, int, uint>(philox4x32_10(counter, stream.seedLow, stream.seedHigh));
    const float normals[4] = {made.z0, made.z1, made.z2, made.z3};
    const uint begin = b == 0u ? skipped : 0u;
    uint e = 4u * b + begin - skipped, r = e / n, c = e - r * n;
    if (isWhole) {
      put_quad(normals, z + r * apart + c);
      continue;
    }
#pragma unroll
    for (uint j = 0u; j < 4u; ++j) {
      if (j < begin || e >= length) continue;
      z[r * apart + c] = normals[j];
      ++e;
      ++c;
      if (c == n) {
        c = 0u;
        ++r;
      }
    }
  }
}

// Rows [group rowsPerGroup, (group + 1) rowsPerGroup) of out: mean + factor z, with the bits of sample_rows, for at
// most sample_narrow_most columns. A lane makes 4 x 4 entries in registers, twice; a group makes as many rows at once
// as its lanes reach, and packs the factor once for all of rowsPerGroup. Nothing above the factor's diagonal is read.
//
// Grid: ceil(count / rowsPerGroup) threadgroups or more, of sample_narrow_lanes (otherwise, or with more columns,
// nothing is written); memory: sample_narrow_bytes.
kernel void sample_narrow(device const float* factor [[buffer(0)]], device const float* mean [[buffer(1)]],
                          device float* out [[buffer(2)]], constant SampleParams& params [[buffer(3)]],
                          threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                          uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  const ulong firstRow = ulong(group) * params.rowsPerGroup;
  const uint n = params.columns;
  if (lanes != sample_narrow_lanes || n > sample_narrow_most || n == 0u || firstRow >= params.count) return;
  const uint left = params.count - uint(firstRow), rows = left < params.rowsPerGroup ? left : params.rowsPerGroup;
  const uint quads = (n + 3u) / 4u, apart = sample_narrow_stride(n), atOnce = sample_narrow_rows(n);
  // A lane makes four columns, and the four that are as far from the last one, of four rows that are `between` apart.
  // So every lane has the same number of products.
  const uint halves = (quads + 1u) / 2u, between = lanes / halves, low = lane / between, own = lane - low * between;
  const bool works = low < halves;
  threadgroup float* entries = memory;
  threadgroup float* z = memory + narrow_entries(quads, quads);
  NormalStream stream;
  stream.seedLow = params.seedLow;
  stream.seedHigh = params.seedHigh;
  stream.streamLow = params.streamLow;
  stream.streamHigh = params.streamHigh;
  const ulong first = ((ulong(params.firstHigh) << 32) | params.firstLow) + firstRow * n;
  pack_quads(factor, entries, n, quads, lane, lanes);
  for (uint done = 0u; done < rows; done += atOnce) {
    const uint here = rows - done < atOnce ? rows - done : atOnce;
    fill_rows_apart(z, first + ulong(done) * n, here * n, n, apart, stream, lane, lanes);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sums[2][4][4];
    if (works) {
#pragma unroll
      for (uint set = 0u; set < 2u; ++set) {
        const uint four = set == 0u ? low : quads - 1u - low;
#pragma unroll
        for (uint c = 0u; c < 4u; ++c) {
          const float start = 4u * four + c < n ? mean[4u * four + c] : 0.0f;
#pragma unroll
          for (uint r = 0u; r < 4u; ++r) sums[set][r][c] = start;
        }
        if (set == 1u && four == low) continue;
        for (uint q = 0u; q <= four; ++q) {
          float y[4][4];
#pragma unroll
          for (uint k = 0u; k < 4u; ++k)
            take_quad(entries + narrow_entries(quads, q) + 4u * (k * (quads - q) + four - q), y[k]);
          if (q < four) {
#pragma unroll
            for (uint r = 0u; r < 4u; ++r) {
              float x[4];
              take_quad(z + (own + r * between) * apart + 4u * q, x);
#pragma unroll
              for (uint k = 0u; k < 4u; ++k) {
#pragma unroll
                for (uint c = 0u; c < 4u; ++c) sums[set][r][c] = fma(y[k][c], x[k], sums[set][r][c]);
              }
            }
          } else {  // the diagonal
#pragma unroll
            for (uint r = 0u; r < 4u; ++r) {
              float x[4];
              take_quad(z + (own + r * between) * apart + 4u * q, x);
#pragma unroll
              for (uint k = 0u; k < 4u; ++k) {
#pragma unroll
                for (uint c = k; c < 4u; ++c) sums[set][r][c] = fma(y[k][c], x[k], sums[set][r][c]);
              }
            }
          }
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (works) {
#pragma unroll
      for (uint r = 0u; r < 4u; ++r) {
        threadgroup float* row = z + (own + r * between) * apart;
        put_quad(sums[0][r], row + 4u * low);
        if (quads - 1u - low != low) put_quad(sums[1][r], row + 4u * (quads - 1u - low));
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    device float* mine = out + (firstRow + done) * n;
    const uint downwards = lanes / n, across = lanes - downwards * n;
    uint r = lane / n, c = lane - r * n;
    for (uint e = lane; e < here * n; e += lanes) {
      mine[e] = z[r * apart + c];
      r += downwards;
      c += across;
      if (c >= n) {
        c -= n;
        ++r;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
