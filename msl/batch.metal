#include <metal_stdlib>

#include "dialect.h"
#include "params.h"
#include "sample-rows.h"

inline float magnitude(float x) { return x < 0.0f ? -x : x; }

inline bool is_finite(float x) { return x - x == 0.0f; }

// The rule of requireSymmetric (objc/cpu/symmetry.cc), operation by operation, so that the CPU refuses every model
// that this refuses. `row` is row i of a matrix whose rows are `stride` apart, `top` its row 0.
inline bool mirrors(threadgroup const float* top, threadgroup const float* row, uint i, uint stride, float tolerance) {
  if (!is_finite(row[i])) return false;
  for (uint j = 0u; j < i; ++j) {
    const float x = row[j], y = top[j * stride + i];
    if (!is_finite(x) || !is_finite(y)) return false;
    const float difference = magnitude(x - y), ax = magnitude(x), ay = magnitude(y);
    if (difference <= tolerance * (ax < ay ? ay : ax)) continue;
    const float variance = magnitude(row[i]), other = magnitude(top[j * stride + j]);
    if (!(difference <= tolerance * sqrt(variance) * sqrt(other))) return false;
  }
  return true;
}

// Makes column j of row i >= j of a factor, whose columns before j have been made; `pivotRow` is row j. The order is
// that of factorOne (objc/cpu/simd/batch.inc), and so are the bits. The row of the pivot itself leaves its entry as
// it is, because others still read it, and sets `root`, to 0 if the matrix is refused.
inline void factor_entry(threadgroup float* row, threadgroup const float* pivotRow, threadgroup float* root, uint i,
                         uint j) {
  float sum = row[j], pivot = pivotRow[j];
  for (uint k = 0u; k < j; ++k) {
    const float other = pivotRow[k];
    sum = fma(-row[k], other, sum);
    pivot = fma(-other, other, pivot);
  }
  const float made = sqrt(pivot);
  if (i == j) {
    *root = pivot > 0.0f && is_finite(pivot) && *root != 0.0f ? made : 0.0f;
  } else {
    row[j] = sum * (1.0f / made);
  }
}

// Each matrix of a (models x columns x columns) becomes its lower Cholesky factor, zeros above the diagonal. One that
// is not finite, symmetric within the tolerance and positive definite stays as it is, and its entry of failed is 1
// instead of 0. A lane has a row of a matrix, in threadgroup memory: right for simdgroups of any width.
//
// Grid: ceil(models / modelsPerGroup) threadgroups or more, of any size; memory: cholesky_batch_bytes.
kernel void cholesky_batch(device float* a [[buffer(0)]], device uint* failed [[buffer(1)]],
                           constant CholeskyBatchParams& params [[buffer(2)]],
                           threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                           uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  const ulong firstModel = ulong(group) * params.modelsPerGroup;
  if (firstModel >= params.models) return;
  const uint n = params.columns, stride = cholesky_batch_stride(n), left = params.models - uint(firstModel);
  const uint models = left < params.modelsPerGroup ? left : params.modelsPerGroup;
  const uint rows = models * n;
  device float* mine = a + firstModel * n * n;
  threadgroup float* roots = memory + rows * stride;
  threadgroup float* verdicts = roots + rows;
  for (uint e = lane; e < rows * n; e += lanes) memory[e / n * stride + e % n] = mine[e];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint r = lane; r < rows; r += lanes) {
    const uint i = r % n;
    const bool good = mirrors(memory + (r - i) * stride, memory + r * stride, i, stride, params.tolerance);
    roots[r] = good ? 1.0f : 0.0f;
  }
  // A column is finished before the next begins. A lane reads and writes only the lower triangle of its row.
  for (uint j = 0u; j < n; ++j) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint r = lane; r < rows; r += lanes) {
      const uint i = r % n;
      if (i >= j) factor_entry(memory + r * stride, memory + (r - i + j) * stride, roots + r, i, j);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint m = lane; m < models; m += lanes) {
    bool good = true;
    for (uint i = 0u; i < n; ++i) good = good && roots[m * n + i] != 0.0f;
    verdicts[m] = good ? 1.0f : 0.0f;
    failed[firstModel + m] = good ? 0u : 1u;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = lane; e < rows * n; e += lanes) {
    const uint r = e / n, i = r % n, j = e - r * n;
    if (verdicts[r / n] != 0.0f) mine[e] = j < i ? memory[r * stride + j] : j == i ? roots[r] : 0.0f;
  }
}

// first becomes the index of the first model that failed, and kept (columns x columns) a copy of its matrix, before
// another command writes to a. If none failed, first becomes params.models and kept stays as it is. One threadgroup,
// of at most 1,024 lanes; memory: simdgroup_values_bytes.
kernel void keep_first_failed(device const float* a [[buffer(0)]], device const uint* failed [[buffer(1)]],
                              device uint* first [[buffer(2)]], device float* kept [[buffer(3)]],
                              constant CholeskyBatchParams& params [[buffer(4)]],
                              threadgroup float* partial THREADGROUP_MEMORY(0),
                              uint group [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                              uint lanes [[threads_per_threadgroup]], uint width [[threads_per_simdgroup]]) {
  if (group != 0u) return;
  uint lowest = params.models;
  for (uint m = lane; m < params.models && lowest == params.models; m += lanes)
    if (failed[m] != 0u) lowest = m;
  lowest = simd_min(lowest);
  // The word is only copied as a float, so that its bits stay.
  if (lane % width == 0u) partial[lane / width] = as_type<float>(lowest);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint s = 0u; s < (lanes + width - 1u) / width; ++s) {
    const uint other = as_type<uint>(partial[s]);
    if (other < lowest) lowest = other;
  }
  if (lane == 0u) *first = lowest;
  if (lowest == params.models) return;
  const uint n = params.columns;
  for (uint e = lane; e < n * n; e += lanes) kept[e] = a[ulong(lowest) * n * n + e];
}

// Threadgroup b blocks + block makes rows [block rowsPerGroup, (block + 1) rowsPerGroup) of model b, where a model
// has blocks = ceil(rows / rowsPerGroup): the rows that sample_rows makes of factor b, mean b and stream + b.
template <typename T>
inline void sample_batch_group(device const T* factors, device const T* means, device T* out,
                               constant SampleBatchParams& params, threadgroup T* memory, uint group, uint lane,
                               uint lanes) {
  if (params.rowsPerGroup == 0u) return;
  const uint blocks = params.rows / params.rowsPerGroup + (params.rows % params.rowsPerGroup != 0u ? 1u : 0u);
  if (blocks == 0u || group / blocks >= params.models) return;
  const uint n = params.columns, model = group / blocks;
  const uint firstRow = (group - model * blocks) * params.rowsPerGroup, left = params.rows - firstRow;
  const uint rows = left < params.rowsPerGroup ? left : params.rowsPerGroup;
  const ulong first = ((ulong(params.firstHigh) << 32) | params.firstLow) + ulong(firstRow) * n;
  NormalStream stream;
  stream.seedLow = params.seedLow;
  stream.seedHigh = params.seedHigh;
  stream.streamLow = params.streamLow + model;
  stream.streamHigh = params.streamHigh + (stream.streamLow < model ? 1u : 0u);
  threadgroup T* z = memory + n * (n + 1u) / 2u;
  pack_factor(factors + ulong(model) * n * n, memory, n, lane, lanes);
  fill_group(z, first, rows * n, n, n, stream, lane, lanes);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  multiply_rows(memory, means + ulong(model) * n, z, out + (ulong(model) * params.rows + firstRow) * n, rows, n, lane,
                lanes);
}

// Grid: models blocks threadgroups or more, of any size; memory: sample_rows_bytes.
kernel void sample_batch(device const float* factors [[buffer(0)]], device const float* means [[buffer(1)]],
                         device float* out [[buffer(2)]], constant SampleBatchParams& params [[buffer(3)]],
                         threadgroup float* memory THREADGROUP_MEMORY(0), uint group [[threadgroup_position_in_grid]],
                         uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  sample_batch_group(factors, means, out, params, memory, group, lane, lanes);
}
