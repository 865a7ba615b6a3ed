// rates: compares sample_rows with fill_normal alone, and multiply_lower with the memory rate, as ratios in one run, to
// find the best rows per group and group size. shares: the kernels that only the Metal device launches, in the groups
// that it chooses, and their share of this GPU's limits, as rows of the table in docs/cuda.md.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "cpu.h"
#include "gpu.h"

using uint = uint32_t;
#include "params.h"

namespace {

template <typename Params>
double timeOf(const char* kernel, std::vector<float*> buffers, Params params, gpu::Size3 threads, gpu::Size3 group,
              size_t memoryBytes = 0) {
  gpu::Launch launch = {kernel, std::move(buffers), std::vector<char>(sizeof params), threads, group, memoryBytes};
  memcpy(launch.params.data(), &params, sizeof params);
  return gpu::microseconds([&] { launch.start(); });
}

// One row reads only the factor's lower half from memory. add_row, which reads and writes, gives the memory rate.
void printLowerRates() {
  const uint rows = 20000, columns = 10000;
  const gpu::Memory all(size_t{rows} * columns * sizeof(float)), row(columns * sizeof(float));
  const double bytes = 8.0 * rows * columns;
  double copied = 0;
  for (const uint lanes : {64u, 256u, 1024u}) {
    const double took =
        timeOf("add_row", {all.data(), row.data()}, RowParams{rows, columns, 1.0f}, {columns, rows, 1}, {lanes, 1, 1});
    copied = std::max(copied, bytes / took / 1e6);
  }
  printf("\nmultiply_lower: the share of (%.2f) TB/s, what add_row moves, by lanes of a group\n", copied);
  printf("      n  rows |");
  for (const uint lanes : {32u, 64u, 128u, 256u, 512u, 1024u}) printf(" %6u", lanes);
  printf("\n");
  for (const uint n : {1000u, 4096u, 16384u, 20000u}) {
    std::vector<float> values(size_t{n} * n, 0.5f);
    gpu::Memory factor(values.size() * sizeof(float)), mean(n * sizeof(float)), x(4 * n * sizeof(float)),
        out(4 * n * sizeof(float));
    factor.put(values.data());
    for (gpu::Memory* each : {&mean, &x, &out}) each->put(values.data());
    for (const uint count : {1u, 4u}) {
      printf("  %5u  %4u |", n, count);
      for (const uint lanes : {32u, 64u, 128u, 256u, 512u, 1024u}) {
        const double took =
            timeOf("multiply_lower", {factor.data(), mean.data(), x.data(), out.data()},
                   MultiplyLowerParams{count, n, 1}, {n * lanes, 1, 1}, {lanes, 1, 1}, multiply_lower_bytes(lanes, 32));
        printf(" %5.0f%%", 100 * 2.0 * n * (n + 1.0) / took / 1e6 / copied);
      }
      printf("\n");
    }
  }
}

std::string grouped(size_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string shapeOf(size_t rows, size_t columns) { return grouped(rows) + " x " + std::to_string(columns); }

// Prints rows of a table. A share is that of the limit which the kernel comes closer to: of the multiply-adds that the
// result needs, or of the bytes that it must at least read and write.
class Table {
 public:
  Table() {
    printf("\nshares of (%.1f) TFLOP/s in float32 and of (%.2f) TB/s copied\n\n", limits_.teraflops, limits_.terabytes);
    printf("| %-37s | %-24s | %8s | share of the limit |\n| --- | --: | --: | --- |\n", "kernel", "rows x columns",
           "ms");
  }
  void row(const std::string& kernel, const std::string& shape, double took, double flops, double bytes) const {
    const double ofFlops = flops / limits_.teraflops / 1e6 / took, ofBytes = bytes / limits_.terabytes / 1e6 / took;
    printf("| %-37s | %-24s | %8.3f | %.0f%% of the %s |\n", kernel.c_str(), shape.c_str(), took / 1e3,
           100 * std::max(ofFlops, ofBytes), ofFlops > ofBytes ? "multiply-adds" : "memory");
  }

 private:
  gpu::Limits limits_ = gpu::limits();
};

// The groups of Encoding::dispatchThreads and Encoding::lanesFor (objc/metal/encoding.mm).
constexpr gpu::Size3 tileOfThreads = {32, 8, 1};
uint lanesFor(uint shares) { return std::min(256u, (shares + 31) / 32 * 32); }

void rowsOfMaps(const Table& table) {
  for (const auto& [count, n] : {std::pair(400000u, 100u), std::pair(100000u, 1000u)}) {
    const double numbers = 1.0 * count * n;
    gpu::Memory rows(size_t{count} * n * sizeof(float)), row(n * sizeof(float)), out(count * sizeof(float));
    row.put(std::vector<float>(n, 1.0f).data());
    rows.put(std::vector<float>(size_t{count} * n, 0.5f).data());
    const std::vector<float*> both = {rows.data(), row.data()}, reduced = {rows.data(), out.data()};
    const std::string shape = shapeOf(count, n);
    const gpu::Size3 grid = {n, count, 1}, group = {lanesFor(n), 1, 1}, groups = {count * group[0], 1, 1};
    const size_t memory = simdgroup_values_bytes(group[0], 32);
    table.row("`add_row`", shape, timeOf("add_row", both, RowParams{count, n, 1.0f}, grid, tileOfThreads), 0,
              8 * numbers);
    table.row("`scale_columns`", shape, timeOf("scale_columns", both, MatrixParams{count, n}, grid, tileOfThreads), 0,
              8 * numbers);
    table.row("`squared_norms`", shape, timeOf("squared_norms", reduced, MatrixParams{count, n}, groups, group, memory),
              2 * numbers, 4 * numbers);
    table.row("`log_density`", shape,
              timeOf("log_density", reduced, LogDensityParams{count, n, -1.0f}, groups, group, memory), 2 * numbers,
              4 * numbers);
  }
}

void rowsOfTriangles(const Table& table) {
  for (const uint n : {4096u, 16384u}) {
    const double square = 1.0 * n * n, lower = n * (n + 1.0) / 2;
    gpu::Memory a(size_t{n} * n * sizeof(float)), to(size_t{n} * n * sizeof(float)), few(12 * n * sizeof(float));
    a.put(std::vector<float>(size_t{n} * n, 0.5f).data());
    few.put(std::vector<float>(12 * n, 0.5f).data());
    const std::string shape = std::to_string(n) + " x " + std::to_string(n);
    const MatrixParams params = {n, n};
    const gpu::Size3 grid = {n, n, 1};
    table.row("`zero_upper`", shape, timeOf("zero_upper", {to.data()}, params, grid, tileOfThreads), 0,
              4 * (square - lower));
    table.row("`copy_lower`", shape, timeOf("copy_lower", {a.data(), to.data()}, params, grid, tileOfThreads), 0,
              4 * (lower + square));
    table.row("`antitranspose`", shape, timeOf("antitranspose", {to.data()}, params, grid, tileOfThreads), 0,
              8 * square);
    for (const uint count : {1u, 4u}) {
      constexpr uint lanes = 128;
      const std::vector<float*> buffers = {a.data(), few.data(), few.data() + 4 * n, few.data() + 8 * n};
      const double took = timeOf("multiply_lower", buffers, MultiplyLowerParams{count, n, 1}, {n * lanes, 1, 1},
                                 {lanes, 1, 1}, multiply_lower_bytes(lanes, 32));
      table.row(count == 1 ? "`multiply_lower`, 1 row" : "`multiply_lower`, 4 rows", shape, took, 2 * lower * count,
                4 * lower);
    }
  }
}

// Every matrix is the identity, which is its own factor: each launch has the same work.
void rowsOfFactors(const Table& table) {
  for (const auto& [models, n] : {std::pair(1000000u, 8u), std::pair(100000u, 32u)}) {
    std::vector<float> identities(size_t{models} * n * n);
    for (size_t e = 0; e < identities.size(); ++e) identities[e] = e % (n * n) % (n + 1) == 0 ? 1.0f : 0.0f;
    gpu::Memory a(identities.size() * sizeof(float)), failed(models * sizeof(float)), kept(n * n * sizeof(float)),
        first(sizeof(float));
    a.put(identities.data());
    const uint abreast = cholesky_batch_models_per_group(n), lanes = lanesFor(abreast * n);
    const CholeskyBatchParams params = {models, n, abreast, 1e-6f};
    const std::string shape = grouped(models) + " models of " + std::to_string(n);
    table.row("`cholesky_batch`", shape,
              timeOf("cholesky_batch", {a.data(), failed.data()}, params, {models / abreast * lanes, 1, 1},
                     {lanes, 1, 1}, cholesky_batch_bytes(n, abreast)),
              1.0 * models * n * n * n / 3, 8.0 * models * n * n);
    table.row("`keep_first_failed`, one threadgroup", shape,
              timeOf("keep_first_failed", {a.data(), failed.data(), first.data(), kept.data()}, params, {256, 1, 1},
                     {256, 1, 1}, simdgroup_values_bytes(256, 32)),
              0, 4.0 * models);
  }
}

void rowsOfSamples(const Table& table) {
  for (const auto& [count, n] : {std::pair(4000000u, 16u), std::pair(1000000u, 64u)}) {
    std::vector<float> values(n * n, 0.01f);
    for (uint i = 0; i < n; ++i) values[i * (n + 1)] = 1.0f;
    gpu::Memory factor(values.size() * sizeof(float)), mean(n * sizeof(float)), out(size_t{count} * n * sizeof(float));
    factor.put(values.data());
    mean.put(values.data());
    for (const uint inverse : {0u, 1u}) {
      const uint rows = sample_rows_per_group(n, inverse), lanes = sample_rows_lanes(inverse);
      const SampleParams params = {42, 0, 7, 0, 0, 0, count, n, rows, inverse};
      table.row(inverse == 0 ? "`sample_rows`" : "`sample_rows`, inverse", shapeOf(count, n),
                timeOf("sample_rows", {factor.data(), mean.data(), out.data()}, params,
                       {(count + rows - 1) / rows * lanes, 1, 1}, {lanes, 1, 1}, sample_rows_bytes(n, rows, inverse)),
                1.0 * count * n * (n + 1.0 - inverse), 4.0 * count * n);
    }
  }
}

}  // namespace

void printShares() {
  const Table table;
  rowsOfMaps(table);
  rowsOfTriangles(table);
  rowsOfFactors(table);
  rowsOfSamples(table);
}

void printRates() {
  printLowerRates();
  for (const uint outputs : {10000000u, 100000000u}) {
    const gpu::Memory out(outputs * sizeof(float));
    const NormalParams normal = {42, 0, 7, 0, 0, 0, outputs};
    const double alone = timeOf("fill_normal", {out.data()}, normal, {outputs / 4 + 1, 1, 1}, {256, 1, 1});
    printf("\nrates: fill_normal of (%u), (%.1f) us; sample_rows as multiples of it, by lanes of a group\n", outputs,
           alone);
    printf("  n  elements   rows | %6d %6d %6d %6d | inverse %6d %6d %6d\n", 64, 128, 256, 512, 32, 64, 256);
    for (const uint n : {2u, 8u, 16u, 32u, 64u}) {
      std::vector<float> values(n * n);
      for (uint i = 0; i < n * n; ++i) values[i] = i % (n + 1) == 0 ? 1.0f : i / n > i % n ? 0.01f : NAN;
      gpu::Memory factor(values.size() * sizeof(float)), mean(n * sizeof(float));
      factor.put(values.data());
      mean.put(std::vector<float>(n, 1.0f).data());
      for (const uint elements : {512u, 1024u, 1536u, 2048u, 3072u, 4096u, 6016u}) {
        const uint rows = elements / n, count = outputs / n;
        printf(" %2u  %8u %6u |", n, elements, rows);
        for (const uint inverse : {0u, 1u}) {
          for (const uint lanes :
               inverse == 0 ? std::vector<uint>{64, 128, 256, 512} : std::vector<uint>{32, 64, 256}) {
            const SampleParams params = {42, 0, 7, 0, 0, 0, count, n, rows, inverse};
            printf(" %6.2f", timeOf("sample_rows", {factor.data(), mean.data(), out.data()}, params,
                                    {(count + rows - 1) / rows * lanes, 1, 1}, {lanes, 1, 1},
                                    sample_rows_bytes(n, rows, inverse)) /
                                 alone);
          }
          if (inverse == 0) printf(" |        ");
        }
        printf("\n");
      }
    }
  }
}
