// Every kernel of msl/ with the same input bytes on the GPU and on the CPU: results must agree to the bit, and the
// memory around them must not change. Above the diagonal of a factor is NaN.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cpu.h"
#include "gpu.h"

using uint = uint32_t;
#include "params.h"

namespace {

using covarium::Size3;
using covarium::cpu::Kernel;
using Values = std::vector<float>;

constexpr size_t margin = 64;

int launches = 0, wrong = 0;

template <typename Params>
void compare(Cpu& cpu, const char* name, const std::vector<Values>& buffers, Params params, Size3 grid, Size3 group) {
  std::vector<Values> onCpu;
  std::vector<std::unique_ptr<gpu::Memory>> onGpu;
  std::vector<void*> slots;
  gpu::Launch launch = {name, {}, std::vector<char>(sizeof params), grid, group, 0};
  memcpy(launch.params.data(), &params, sizeof params);
  for (const Values& buffer : buffers) {
    Values whole(buffer.size() + 2 * margin, -12345.0f);
    std::copy(buffer.begin(), buffer.end(), whole.begin() + margin);
    onGpu.push_back(std::make_unique<gpu::Memory>(whole.size() * sizeof(float)));
    onGpu.back()->put(whole.data());
    launch.buffers.push_back(onGpu.back()->data() + margin);
    onCpu.push_back(std::move(whole));
  }
  for (Values& buffer : onCpu) slots.push_back(buffer.data() + margin);
  slots.push_back(&params);
  const std::string called = name;
  const Kernel& kernel = covarium::cpu::kernelNamed(cpu.table, called);
  const auto threadgroup = covarium::cpu::threadgroupFor(kernel, slots, group);
  covarium::cpu::launch(cpu.execution(), kernel, slots, grid, threadgroup);
  launch.memoryBytes = threadgroup.memoryBytes;
  launch.start();
  launch.wait();
  ++launches;
  for (size_t b = 0; b < buffers.size(); ++b) {
    Values result(onCpu[b].size());
    onGpu[b]->get(result.data());
    if (memcmp(result.data(), onCpu[b].data(), result.size() * sizeof(float)) == 0) continue;
    size_t at = 0;
    while (memcmp(&result[at], &onCpu[b][at], sizeof(float)) == 0) ++at;
    printf("%s, buffer (%zu), element (%td) by groups of (%u): (%.9g), not (%.9g)\n", name, b,
           static_cast<ptrdiff_t>(at - margin), group[0] * group[1], double{result[at]}, double{onCpu[b][at]});
    ++wrong;
  }
}

// From -1 to 1, the same in every run.
Values scattered(size_t count, uint seed) {
  uint state = seed * 2654435761u + 12345u;
  Values values(count);
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state) / 2147483648.0f - 1.0f;
  }
  return values;
}

Values lowerFactor(uint n) {
  Values factor = scattered(size_t{n} * n, n);
  for (uint i = 0; i < n; ++i)
    for (uint j = 0; j < n; ++j) {
      float& entry = factor[size_t{i} * n + j];
      entry = j > i ? NAN : i == j ? 1.5f + entry / 2 : entry / static_cast<float>(n);
    }
  return factor;
}

NormalParams from(uint64_t first, uint count) {
  return {7, 1, 3, 5, static_cast<uint>(first), static_cast<uint>(first >> 32), count};
}

const std::vector<uint> groups = {1, 31, 32, 33, 64, 1000, 1024};
const std::vector<uint64_t> firsts = {0, 1, 3, (uint64_t{1} << 34) - 6, (uint64_t{1} << 40) + 2, ~uint64_t{0} - 99999};

void maps(Cpu& cpu, uint group) {
  const std::vector<Size3> shapes = {{1, 1, 1}, {3, 5, 1}, {33, 7, 1}, {257, 130, 1}};
  for (const Size3 shape : shapes) {
    const uint columns = shape[0], rows = shape[1];
    for (const Size3 size : {Size3{group, 1, 1}, Size3{1, group, 1}}) {
      const Size3 grid = {columns + 3, rows + 1, 1}, square = {columns + 3, columns + 1, 1};
      const Values a = scattered(columns * rows, 1), row = scattered(columns, 2), n2 = scattered(columns * columns, 3);
      compare(cpu, "add_row", {a, row}, RowParams{rows, columns, -0.7f}, grid, size);
      compare(cpu, "scale_columns", {a, row}, MatrixParams{rows, columns}, grid, size);
      compare(cpu, "zero_upper", {n2}, MatrixParams{columns, columns}, square, size);
      compare(cpu, "antitranspose", {n2}, MatrixParams{columns, columns}, square, size);
      compare(cpu, "copy_lower", {lowerFactor(columns), n2}, MatrixParams{columns, columns}, square, size);
    }
  }
}

void normals(Cpu& cpu, uint group) {
  for (const uint64_t first : firsts)
    for (const uint count : {0u, 1u, 2u, 3u, 5u, 1000u, 70001u}) {
      const uint threads = (static_cast<uint>(first % 4) + count + 3) / 4;
      compare(cpu, "fill_normal", {Values(count)}, from(first, count), {threads, 1, 1}, {group, 1, 1});
    }
}

void reductions(Cpu& cpu, uint lanes) {
  for (const Size3 shape : {Size3{1, 1}, Size3{5000, 1}, Size3{31, 7}, Size3{33, 33}, Size3{8, 100}}) {
    const uint columns = shape[0], rows = shape[1];
    const Size3 grid = {(rows + 1) * lanes, 1, 1}, group = {lanes, 1, 1};
    const Values x = scattered(columns * rows, 4);
    compare(cpu, "squared_norms", {x, Values(rows)}, MatrixParams{rows, columns}, grid, group);
    compare(cpu, "log_density", {x, Values(rows)}, LogDensityParams{rows, columns, -7.25f}, grid, group);
  }
}

void fewRows(Cpu& cpu, uint lanes) {
  for (const uint n : {1u, 2u, 31u, 33u, 300u})
    for (const uint rows : {1u, 3u, 4u, 5u, 8u})
      for (const uint addsMean : {0u, 1u}) {
        const std::vector<Values> buffers = {lowerFactor(n), scattered(n, 5), scattered(rows * n, 6), Values(rows * n)};
        compare(cpu, "multiply_lower", buffers, MultiplyLowerParams{rows, n, addsMean},
                {(n * ((rows + 3) / 4) + 1) * lanes, 1, 1}, {lanes, 1, 1});
      }
}

void samples(Cpu& cpu, uint lanes) {
  for (const uint n : {1u, 2u, 3u, 8u, 17u, 32u, 64u})
    for (const uint64_t first : firsts)
      for (const Size3 shape : {Size3{1, 1}, Size3{29, 4}, Size3{200, 94}})
        for (const uint inverse : {0u, 1u}) {
          const uint count = shape[0], rowsPerGroup = shape[1];
          const NormalParams at = from(first, 0);
          const SampleParams params = {at.seedLow, at.seedHigh, at.streamLow, at.streamHigh, at.firstLow, at.firstHigh,
                                       count,      n,           rowsPerGroup, inverse};
          const Size3 grid = {((count + rowsPerGroup - 1) / rowsPerGroup + 1) * lanes, 1, 1};
          compare(cpu, "sample_rows", {lowerFactor(n), scattered(n, 5), Values(size_t{count} * n)}, params, grid,
                  {lanes, 1, 1});
        }
}

// Matrix `bad` of a batch is not positive definite, and the one after it not symmetric.
Values covariances(uint models, uint n, uint bad) {
  Values all(size_t{models} * n * n);
  const Values factor = lowerFactor(n);
  for (uint b = 0; b < models; ++b)
    for (uint i = 0; i < n; ++i)
      for (uint j = 0; j < n; ++j) {
        float sum = 0;
        for (uint k = 0; k <= std::min(i, j); ++k) sum += factor[i * n + k] * factor[j * n + k];
        all[(size_t{b} * n + i) * n + j] = sum * static_cast<float>(b + 1);
      }
  if (bad < models) all[(size_t{bad} + 1) * n * n - 1] = -1;
  if (bad + 1 < models && n > 1) all[(size_t{bad} + 1) * n * n + 1] += 9;
  return all;
}

void batches(Cpu& cpu, uint lanes) {
  for (const uint n : {1u, 2u, 3u, 8u, 17u, 32u, 33u, 64u})
    for (const uint models : {1u, 2u, 37u}) {
      const Values means = scattered(size_t{models} * n, 5);
      Values factors;
      for (uint b = 0; b < models; ++b) {
        const Values one = lowerFactor(n);
        factors.insert(factors.end(), one.begin(), one.end());
      }
      for (const uint abreast : {1u, cholesky_batch_models_per_group(n)})
        for (const uint bad : {0u, models / 2, models}) {
          const CholeskyBatchParams params = {models, n, abreast, 1e-6f};
          const Values failed(models, 7.0f);
          compare(cpu, "cholesky_batch", {covariances(models, n, bad), failed}, params,
                  {((models + abreast - 1) / abreast + 1) * lanes, 1, 1}, {lanes, 1, 1});
          Values flags(models, 0.0f);
          if (bad < models) flags[bad] = 1.0f;
          compare(cpu, "keep_first_failed", {covariances(models, n, bad), flags, Values(1), Values(n * n)}, params,
                  {2 * lanes, 1, 1}, {lanes, 1, 1});
        }
      for (const uint64_t first : firsts)
        for (const Size3 shape : {Size3{1, 1}, Size3{29, 4}}) {
          const NormalParams at = from(first, 0);
          const uint rows = shape[0], rowsPerGroup = shape[1];
          const SampleBatchParams params = {at.seedLow, at.seedHigh, ~0u - 4, at.streamHigh, at.firstLow, at.firstHigh,
                                            models,     rows,        n,       rowsPerGroup};
          compare(cpu, "sample_batch", {factors, means, Values(size_t{models} * rows * n)}, params,
                  {(models * ((rows + rowsPerGroup - 1) / rowsPerGroup) + 1) * lanes, 1, 1}, {lanes, 1, 1});
        }
    }
}

}  // namespace

int checkKernels(Cpu& cpu, bool few) {
  for (const uint group : few ? std::vector<uint>{96} : groups) {
    maps(cpu, group);
    normals(cpu, group);
    reductions(cpu, group);
    fewRows(cpu, group);
    samples(cpu, group);
    batches(cpu, group);
  }
  printf("kernels: (%d) launches, (%d) results differ\n", launches, wrong);
  return wrong;
}
