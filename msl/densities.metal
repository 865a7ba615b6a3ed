#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "quad.h"

// |w|^2 of one row x of n columns, in registers: without `inverse` of the w with factor w = x - mean, by forward
// substitution; otherwise of w = factor (x - mean). `entries` is the factor's lower triangle by rows.
template <uint n, typename Real>
inline Real square_of(threadgroup const Real* entries, device const Real* mean, device const Real* x, bool inverse) {
  Real w[n];
  Real square = Real(0);
#pragma unroll
  for (uint i = 0u; i < n; ++i) w[i] = x[i] - mean[i];
#pragma unroll
  for (uint i = 0u; i < n; ++i) {
    threadgroup const Real* row = entries + i * (i + 1u) / 2u;
    Real sum = inverse ? Real(0) : w[i];
#pragma unroll
    for (uint j = 0u; j < i; ++j) sum = fma(inverse ? row[j] : -row[j], w[j], sum);
    if (inverse) {
      sum = fma(row[i], w[i], sum);
    } else {
      sum = sum / row[i];
      w[i] = sum;
    }
    square = fma(sum, sum, square);
  }
  return square;
}
template <typename Real>
inline Real square_of_few(threadgroup const Real* entries, device const Real* mean, device const Real* x, uint n,
                          bool inverse) {
  switch (n) {
    case 1u:
      return square_of<1u>(entries, mean, x, inverse);
    case 2u:
      return square_of<2u>(entries, mean, x, inverse);
    case 3u:
      return square_of<3u>(entries, mean, x, inverse);
    case 4u:
      return square_of<4u>(entries, mean, x, inverse);
    case 5u:
      return square_of<5u>(entries, mean, x, inverse);
    case 6u:
      return square_of<6u>(entries, mean, x, inverse);
    case 7u:
      return square_of<7u>(entries, mean, x, inverse);
    case 8u:
      return square_of<8u>(entries, mean, x, inverse);
    case 9u:
      return square_of<9u>(entries, mean, x, inverse);
    case 10u:
      return square_of<10u>(entries, mean, x, inverse);
    case 11u:
      return square_of<11u>(entries, mean, x, inverse);
    default:
      return square_of<12u>(entries, mean, x, inverse);
  }
}

// The rows of one threadgroup: `count` from row `first` of a model on; none of a group behind the last.
struct GroupRows {
  uint model, first, count;
};
inline GroupRows group_rows(constant DensitiesParams& params, uint group) {
  GroupRows own = {0u, 0u, 0u};
  if (params.rowsPerGroup == 0u || params.rows == 0u) return own;
  const uint blocks = (params.rows - 1u) / params.rowsPerGroup + 1u;
  if (group / blocks >= params.models) return own;
  own.model = group / blocks;
  own.first = (group - own.model * blocks) * params.rowsPerGroup;
  own.count = params.rows - own.first < params.rowsPerGroup ? params.rows - own.first : params.rowsPerGroup;
  return own;
}

// out (models x rows) = logAtMean - |w|^2 / 2 of each row, by its model's factor, mean and entry of logAtMeans, which
// is the log density of the mean. Nothing above a factor's diagonal is read. Columns are fewer than
// densities_by_columns_from; with more, nothing is written.
//
// Threadgroup b blocks + block takes rowsPerGroup rows of model b, where a model has
// blocks = ceil(rows / rowsPerGroup). Grid: models blocks threadgroups or more, of any size; memory:
// densities_elements.
template <typename Real>
inline void densities_of_group(device const Real* factors, device const Real* means, device const Real* rows,
                               device const Real* logAtMeans, device Real* out, constant DensitiesParams& params,
                               threadgroup Real* memory, uint group, uint lane, uint lanes) {
  const uint n = params.columns;
  const GroupRows own = group_rows(params, group);
  if (n >= densities_by_columns_from || own.count == 0u) return;
  const uint model = own.model, first = own.first, count = own.count;
  const ulong row = params.shared != 0u ? ulong(first) : ulong(model) * params.rows + first;
  device const Real* factor = factors + ulong(model) * n * n;
  device const Real* mean = means + ulong(model) * n;
  device const Real* x = rows + row * n;
  device Real* to = out + ulong(model) * params.rows + first;
  const bool inverse = params.inverse != 0u;
  for (uint i = 0u; i < n; ++i)
    for (uint j = lane; j <= i; j += lanes) memory[i * (i + 1u) / 2u + j] = factor[i * n + j];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint r = lane; r < count; r += lanes) {
    const Real square = square_of_few(memory, mean, x + ulong(r) * n, n, inverse);
    to[r] = fma(Real(-0.5f), square, logAtMeans[model]);
  }
}
kernel void densities(device const float* factors [[buffer(0)]], device const float* means [[buffer(1)]],
                      device const float* rows [[buffer(2)]], device const float* logAtMeans [[buffer(3)]],
                      device float* out [[buffer(4)]], constant DensitiesParams& params [[buffer(5)]],
                      threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                      uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  densities_of_group(factors, means, rows, logAtMeans, out, params, memory, group, lane, lanes);
}

// sums[c] -= factors[c] of, for four.
template <typename Real>
inline void less_products(threadgroup const Real* factors, Real of, thread Real* sums) {
  Real four[4];
  take_quad(factors, four);
#pragma unroll
  for (uint c = 0u; c < 4u; ++c) sums[c] = fma(-four[c], of, sums[c]);
}

// What square_of makes, by 16 columns in registers. Entry j of the row less the mean lies at x + j apart; without
// `inverse`, that of w takes its place. `entries` is the factor as pack_quads leaves it.
template <typename Real>
inline Real square_by_columns(threadgroup const Real* entries, threadgroup Real* x, uint apart, uint n, bool inverse) {
  const uint quads = (n + 3u) / 4u;
  Real square = Real(0);
  for (uint first = 0u; first < n; first += 16u) {
    // With `inverse`, the sums are those of -w, which differ from those of w in their sign only.
    Real own[16], sums[16];
#pragma unroll
    for (uint c = 0u; c < 16u; ++c) {
      own[c] = first + c < n ? x[(first + c) * apart] : Real(0);
      sums[c] = inverse ? Real(0) : own[c];
    }
    for (uint q = 0u; q < first / 4u; ++q) {
#pragma unroll
      for (uint k = 0u; k < 4u; ++k) {
        const Real before = x[(4u * q + k) * apart];
        threadgroup const Real* column = entries + narrow_entries(quads, q) + 4u * k * (quads - q) + first - 4u * q;
#pragma unroll
        for (uint t = 0u; t < 16u; t += 4u)
          if (first + t < n) less_products(column + t, before, sums + t);
      }
    }
#pragma unroll
    for (uint k = 0u; k < 16u; ++k) {
      if (first + k >= n) continue;
      const uint q = first / 4u + k / 4u;
      threadgroup const Real* column = entries + narrow_entries(quads, q) + 4u * (k % 4u) * (quads - q);
      if (!inverse) {
        own[k] = sums[k] / column[k % 4u];
        x[(first + k) * apart] = own[k];
      }
      // Also from the columns of this quad before k, which nothing reads again: the factor is 0 there.
#pragma unroll
      for (uint t = 0u; t < 16u; t += 4u)
        if (t >= k / 4u * 4u && first + t < n) less_products(column + t - k / 4u * 4u, own[k], sums + t);
      const Real w = inverse ? sums[k] : own[k];
      square = fma(w, w, square);
    }
  }
  return square;
}

// Row r less the mean becomes column r of x: entry (r, c) lies at x[c apart + r]. Neighbouring lanes bring neighbours.
template <typename Real>
inline void take_rows_less_mean(device const Real* rows, threadgroup const Real* mean, threadgroup Real* x, uint apart,
                                uint count, uint n, uint lane, uint lanes) {
  const uint downwards = lanes / n, across = lanes - downwards * n;
  uint r = lane / n, c = lane - r * n;
  for (uint e = lane; e < count * n; e += 8u * lanes) {
    // All are on their way before the first is used.
    Real taken[8];
#pragma unroll
    for (uint k = 0u; k < 8u; ++k) taken[k] = e + k * lanes < count * n ? rows[e + k * lanes] : Real(0);
#pragma unroll
    for (uint k = 0u; k < 8u; ++k) {
      if (e + k * lanes < count * n) x[c * apart + r] = taken[k] - mean[c];
      r += downwards;
      c += across;
      if (c >= n) {
        c -= n;
        ++r;
      }
    }
  }
}

// What densities makes, of densities_by_columns_from to densities_most columns; with others, nothing is written. Grid
// and memory: as there.
template <typename Real>
inline void densities_by_columns_of_group(device const Real* factors, device const Real* means, device const Real* rows,
                                          device const Real* logAtMeans, device Real* out,
                                          constant DensitiesParams& params, threadgroup Real* memory, uint group,
                                          uint lane, uint lanes) {
  const uint n = params.columns;
  const GroupRows own = group_rows(params, group);
  if (n < densities_by_columns_from || n > densities_most || own.count == 0u) return;
  const uint model = own.model, first = own.first, count = own.count;
  const ulong row = params.shared != 0u ? ulong(first) : ulong(model) * params.rows + first;
  device const Real* from = rows + row * n;
  device Real* to = out + ulong(model) * params.rows + first;
  const uint quads = (n + 3u) / 4u, apart = lanes + 1u;
  threadgroup Real* mean = memory + narrow_entries(quads, quads);
  threadgroup Real* x = mean + n;
  for (uint j = lane; j < n; j += lanes) mean[j] = means[ulong(model) * n + j];
  pack_quads(factors + ulong(model) * n * n, memory, n, quads, lane, lanes);
  for (uint done = 0u; done < count; done += lanes) {
    const uint here = count - done < lanes ? count - done : lanes;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    take_rows_less_mean(from + ulong(done) * n, mean, x, apart, here, n, lane, lanes);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane >= here) continue;
    const Real square = square_by_columns(memory, x + lane, apart, n, params.inverse != 0u);
    to[done + lane] = fma(Real(-0.5f), square, logAtMeans[model]);
  }
}
kernel void densities_by_columns(device const float* factors [[buffer(0)]], device const float* means [[buffer(1)]],
                                 device const float* rows [[buffer(2)]], device const float* logAtMeans [[buffer(3)]],
                                 device float* out [[buffer(4)]], constant DensitiesParams& params [[buffer(5)]],
                                 threadgroup float* memory THREADGROUP_MEMORY(0),
                                 uint group [[threadgroup_position_in_grid]],
                                 uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  densities_by_columns_of_group(factors, means, rows, logAtMeans, out, params, memory, group, lane, lanes);
}
