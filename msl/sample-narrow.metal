#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "quad.h"
#include "sample-rows.h"

inline void put_normals(thread const float* normals, threadgroup float* to) { put_quad(normals, to); }
#ifdef __CUDA__
inline void put_normals(thread const double* normals, threadgroup double* to) {
  to[0] = normals[0];
  to[1] = normals[1];
}
#endif

// Writes elements first ... of the stream as rows of n, which are `apart` elements apart, a multiple of four.
template <typename T>
inline void fill_rows_apart(threadgroup T* z, ulong first, uint length, uint n, uint apart, NormalStream stream,
                            uint lane, uint lanes) {
  constexpr uint each = 4u * sizeof(float) / sizeof(T);  // normals of a block
  const uint skipped = uint(first) % each;
  T normals[each];
  if (skipped == 0u && n % each == 0u) {  // a block never ends in another row
    const uint across = n / each, rowsOn = lanes / across, columnsOn = lanes - rowsOn * across;
    uint r = lane / across, c = lane - r * across;
    for (uint b = lane; b < length / each; b += lanes) {
      make_normals(philox4x32_10(counter_of<each>(first / each + b, stream), stream.seedLow, stream.seedHigh), normals);
      put_normals(normals, z + r * apart + each * c);
      r += rowsOn;
      c += columnsOn;
      if (c >= across) {
        c -= across;
        ++r;
      }
    }
    return;
  }
  for (uint b = lane; b < (skipped + length + each - 1u) / each; b += lanes) {
    make_normals(philox4x32_10(counter_of<each>(first / each + b, stream), stream.seedLow, stream.seedHigh), normals);
    const uint begin = b == 0u ? skipped : 0u;
    uint e = each * b + begin - skipped, r = e / n, c = e - r * n;
#pragma unroll
    for (uint j = 0u; j < each; ++j) {
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

// Writes rows of n that are `apart` elements apart, `length` elements in all, `each` (1 or 4) at once.
template <typename T, uint each>
inline void write_rows_apart(threadgroup const T* z, device T* out, uint length, uint n, uint apart, uint lane,
                             uint lanes) {
  const uint across = n / each, rowsOn = lanes / across, columnsOn = lanes - rowsOn * across;
  uint r = lane / across, c = lane - r * across;
  for (uint e = each * lane; e < length; e += each * lanes) {
    threadgroup const T* from = z + r * apart + each * c;
    if (each == 4u) {
      T four[4];
      take_quad(from, four);
      write_four(four, out + e);
    } else {
      out[e] = *from;
    }
    r += rowsOn;
    c += columnsOn;
    if (c >= across) {
      c -= across;
      ++r;
    }
  }
}

// Rows [group rowsPerGroup, (group + 1) rowsPerGroup) of out: mean + factor z, with the bits of sample_rows, for at
// most sample_narrow_most columns. A lane makes 4 x 4 entries in registers, twice; a group makes as many rows at once
// as its lanes reach, and packs the factor once for all of rowsPerGroup. Nothing above the factor's diagonal is read.
//
template <typename T>
inline void sample_narrow_group(device const T* factor, device const T* mean, device T* out,
                                constant SampleParams& params, threadgroup T* memory, uint group, uint lane,
                                uint lanes) {
  const ulong firstRow = ulong(group) * params.rowsPerGroup;
  const uint n = params.columns;
  if (lanes != sample_narrow_lanes || n > sample_narrow_most || n == 0u || firstRow >= params.count) return;
  const uint left = params.count - uint(firstRow), rows = left < params.rowsPerGroup ? left : params.rowsPerGroup;
  const uint quads = (n + 3u) / 4u, apart = sample_narrow_stride(n), atOnce = sample_narrow_rows(n);
  // A lane makes four columns, and the four that are as far from the last one, of four rows that are `between` apart.
  // So every lane has the same number of products.
  const uint halves = (quads + 1u) / 2u, between = lanes / halves, low = lane / between, own = lane - low * between;
  const bool works = low < halves;
  threadgroup T* entries = memory;
  threadgroup T* z = memory + narrow_entries(quads, quads);
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
    T sums[2][4][4];
    if (works) {
#pragma unroll
      for (uint set = 0u; set < 2u; ++set) {
        const uint four = set == 0u ? low : quads - 1u - low;
#pragma unroll
        for (uint c = 0u; c < 4u; ++c) {
          const T start = 4u * four + c < n ? mean[4u * four + c] : T(0);
#pragma unroll
          for (uint r = 0u; r < 4u; ++r) sums[set][r][c] = start;
        }
        if (set == 1u && four == low) continue;
        for (uint q = 0u; q <= four; ++q) {
          T y[4][4];
#pragma unroll
          for (uint k = 0u; k < 4u; ++k)
            take_quad(entries + narrow_entries(quads, q) + 4u * (k * (quads - q) + four - q), y[k]);
          if (q < four) {
#pragma unroll
            for (uint r = 0u; r < 4u; ++r) {
              T x[4];
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
              T x[4];
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
        threadgroup T* row = z + (own + r * between) * apart;
        put_quad(sums[0][r], row + 4u * low);
        if (quads - 1u - low != low) put_quad(sums[1][r], row + 4u * (quads - 1u - low));
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    // By fours where that takes fewer instructions; lanes that write a float64 each fill the memory's sectors as well.
    device T* mine = out + (firstRow + done) * n;
    if (sizeof(T) == 4u && n % 4u == 0u)
      write_rows_apart<T, 4>(z, mine, here * n, n, apart, lane, lanes);
    else
      write_rows_apart<T, 1>(z, mine, here * n, n, apart, lane, lanes);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

// Grid: ceil(count / rowsPerGroup) threadgroups or more, of sample_narrow_lanes (otherwise, or with more columns,
// nothing is written); memory: sample_narrow_bytes.
kernel void sample_narrow(device const float* factor [[buffer(0)]], device const float* mean [[buffer(1)]],
                          device float* out [[buffer(2)]], constant SampleParams& params [[buffer(3)]],
                          threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                          uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  sample_narrow_group(factor, mean, out, params, memory, group, lane, lanes);
}
