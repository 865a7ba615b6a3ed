// Compares sample_rows with fill_normal alone, and multiply_lower with the memory rate, as ratios in one run, to find
// the best rows per group and group size.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cpu.h"
#include "gpu.h"

using uint = uint32_t;
#include "params.h"

namespace {

template <typename Params>
double timeOf(const char* kernel, std::vector<float*> buffers, Params params, uint threads, uint group,
              size_t memoryBytes) {
  gpu::Launch launch = {kernel,          std::move(buffers), std::vector<char>(sizeof params),
                        {threads, 1, 1}, {group, 1, 1},      memoryBytes};
  memcpy(launch.params.data(), &params, sizeof params);
  return gpu::microseconds(launch);
}

// One row reads only the factor's lower half from memory. add_row, which reads and writes, gives the memory rate.
void printLowerRates() {
  const uint rows = 20000, columns = 10000;
  const gpu::Memory all(size_t{rows} * columns * sizeof(float)), row(columns * sizeof(float));
  const double bytes = 8.0 * rows * columns;
  double copied = 0;
  for (const uint lanes : {64u, 256u, 1024u}) {
    gpu::Launch launch = {
        "add_row", {all.data(), row.data()}, std::vector<char>(sizeof(RowParams)), {columns, rows, 1}, {lanes, 1, 1},
        0};
    const RowParams params = {rows, columns, 1.0f};
    memcpy(launch.params.data(), &params, sizeof params);
    copied = std::max(copied, bytes / gpu::microseconds(launch) / 1e6);
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
        const double took = timeOf("multiply_lower", {factor.data(), mean.data(), x.data(), out.data()},
                                   MultiplyLowerParams{count, n, 1}, n * lanes, lanes, multiply_lower_bytes(lanes, 32));
        printf(" %5.0f%%", 100 * 2.0 * n * (n + 1.0) / took / 1e6 / copied);
      }
      printf("\n");
    }
  }
}

}  // namespace

void printRates() {
  printLowerRates();
  for (const uint outputs : {10000000u, 100000000u}) {
    const gpu::Memory out(outputs * sizeof(float));
    const NormalParams normal = {42, 0, 7, 0, 0, 0, outputs};
    const double alone = timeOf("fill_normal", {out.data()}, normal, outputs / 4 + 1, 256, 0);
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
                                    (count + rows - 1) / rows * lanes, lanes, sample_rows_bytes(n, rows, inverse)) /
                                 alone);
          }
          if (inverse == 0) printf(" |        ");
        }
        printf("\n");
      }
    }
  }
}
