// Runs kernels by the launcher at every width of a simdgroup, with exactly the threadgroup memory that the kernel
// requests. test/msl/simdgroups.test.ts builds it under the address sanitizer and runs it.
//
// widths   prints a line for each wrong result
// short    one byte too little memory: the sanitizer must end it
// uneven   a barrier that one lane does not reach: prints the launcher's message
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "launch.h"
#include "threadgroup.h"

namespace {

using covarium::cpu::Kernel;

#include <metal_stdlib>

#include "batch.metal"
#include "log-density.metal"
#include "row.metal"
#include "sample.metal"

#include "simd/adapters.inc"

// What the simdgroup functions return to each lane, after lane 2 of each simdgroup except the first has returned.
kernel void ask_simdgroup(device uint* out, constant MatrixParams& params, uint row, uint lane, uint lanes,
                          uint width) {
  if (row >= params.rows || (lane >= width && lane % width == 2u)) return;
  device uint* answers = out + 4u * (row * lanes + lane);
  answers[0] = metal::simd_sum(lane);
  answers[1] = metal::simd_max(lane);
  answers[2] = metal::simd_shuffle_xor(lane, 1);
  answers[3] = metal::simd_broadcast(lane, 0);
}

// Lane 0 waits for its simdgroup, which waits at the barrier for lane 0.
kernel void wait_unevenly(device uint* out, constant MatrixParams& params, uint row, uint lane, uint) {
  if (lane == 0u) {
    out[row] = metal::simd_sum(params.rows);
  } else {
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
  }
}

#undef kernel
#undef thread  // an address space to MSL

using covarium::cpu::Threadgroup;

struct Runner {
  covarium::cpu::Pool pool{2};
  covarium::cpu::KernelTable table{};
  covarium::cpu::Blas blas;
  std::atomic<bool> no{false};

  void run(const Kernel& kernel, const std::vector<void*>& slots, unsigned groups, unsigned lanes, size_t memoryBytes,
           unsigned width) {
    const covarium::cpu::Execution execution = {pool, table, blas, no, no};
    launch(execution, kernel, slots, {groups * lanes, 1, 1}, Threadgroup{{lanes, 1, 1}, memoryBytes, width});
  }
};

int wrong = 0;

void expect(bool right, const char* what, unsigned lanes, unsigned width, unsigned place) {
  if (right) return;
  printf("%s is wrong at (%u) of (%u) lanes, simdgroups of (%u)\n", what, place, lanes, width);
  ++wrong;
}

void sums(Runner& runner, unsigned lanes, unsigned width) {
  constexpr unsigned rows = 3, columns = 301;
  std::vector<float> x(rows * columns), norms(rows), densities(rows);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(std::sin(double(i)));
  MatrixParams matrix = {rows, columns};
  LogDensityParams density = {rows, columns, 5.0f};
  const size_t bytes = simdgroup_values_bytes(lanes, width);
  runner.run(reduction<squared_norms>("squared_norms", nullptr), {x.data(), norms.data(), &matrix}, rows, lanes, bytes,
             width);
  runner.run(reduction<log_density>("log_density", nullptr), {x.data(), densities.data(), &density}, rows, lanes, bytes,
             width);
  for (unsigned r = 0; r < rows; ++r) {
    double sum = 0;
    for (unsigned j = 0; j < columns; ++j) sum += double{x[r * columns + j]} * double{x[r * columns + j]};
    expect(std::fabs(norms[r] - sum) < sum * 1e-5, "squared_norms", lanes, width, r);
    expect(std::fabs(densities[r] - (5 - sum / 2)) < sum * 1e-5, "log_density", lanes, width, r);
  }
}

void answers(Runner& runner, unsigned lanes, unsigned width) {
  std::vector<uint> out(4 * lanes, 77);
  MatrixParams params = {1, 1};
  runner.run(reduction<ask_simdgroup>("ask_simdgroup", nullptr), {out.data(), &params}, 1, lanes, 0, width);
  const auto returned = [&](uint lane) { return lane >= width && lane % width == 2; };
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned first = lane / width * width, last = first + width < lanes ? first + width : lanes;
    uint sum = 0, most = 0;
    for (unsigned each = first; each < last; ++each) {
      if (returned(each)) continue;
      sum += each;
      most = each;
    }
    const unsigned other = first + ((lane - first) ^ 1u);
    const bool there = other < last && !returned(other);
    const uint expected[4] = {sum, most, there ? other : lane, first};
    for (int a = 0; a < 4; ++a)
      expect(out[4 * lane + a] == (returned(lane) ? 77 : expected[a]), "ask", lanes, width, lane);
  }
}

// The memory that sample_rows requests is enough, wherever the first block is entered.
void samples(Runner& runner, unsigned lanes, unsigned columns, unsigned rowsPerGroup, size_t tooShort) {
  const unsigned count = 2 * rowsPerGroup + 1;
  std::vector<float> factor(columns * columns, 0.5f), mean(columns), out(count * columns);
  for (uint first = 0; first < 4; ++first) {
    SampleParams params = {1, 2, 3, 4, first, 0, count, columns, rowsPerGroup, 0};
    for (params.inverse = 0; params.inverse < 2; ++params.inverse) {
      for (float& y : out) y = NAN;
      runner.run(reduction<sample_rows>("sample_rows", nullptr), {factor.data(), mean.data(), out.data(), &params}, 3,
                 lanes, sample_rows_bytes(columns, rowsPerGroup, params.inverse) - tooShort, 32);
      for (unsigned e = 0; e < out.size(); ++e) expect(std::isfinite(out[e]), "sample_rows", lanes, 32, e);
    }
  }
}

// A batch of covariances with ones beside a diagonal of n + 1 + b; the model `bad` has a diagonal of zeros.
std::vector<float> covariances(unsigned models, unsigned n, unsigned bad) {
  std::vector<float> a(models * n * n, 1.0f);
  for (unsigned b = 0; b < models; ++b)
    for (unsigned i = 0; i < n; ++i) a[(b * n + i) * n + i] = b == bad ? 0.0f : float(n + 1 + b);
  return a;
}

// The factors of a batch, for any number of lanes, and what is recorded about the first matrix without a factor.
void factors(Runner& runner, unsigned lanes, unsigned width, unsigned n, unsigned abreast) {
  constexpr unsigned models = 7;
  for (const unsigned bad : {0u, 4u, models}) {
    const std::vector<float> before = covariances(models, n, bad);
    std::vector<float> a = before, kept(n * n);
    std::vector<uint> failed(models, 9), first(1, 9);
    CholeskyBatchParams params = {models, n, abreast, 1e-6f};
    runner.run(reduction<cholesky_batch>("cholesky_batch", nullptr), {a.data(), failed.data(), &params},
               (models + abreast - 1) / abreast + 1, lanes, cholesky_batch_bytes(n, abreast), width);
    runner.run(reduction<keep_first_failed>("keep_first_failed", nullptr),
               {a.data(), failed.data(), first.data(), kept.data(), &params}, 2, lanes,
               simdgroup_values_bytes(lanes, width), width);
    expect(first[0] == bad, "keep_first_failed", lanes, width, n);
    for (unsigned e = 0; e < n * n && bad < models; ++e)
      expect(kept[e] == before[bad * n * n + e] && a[bad * n * n + e] == kept[e], "kept matrix", lanes, width, e);
    for (unsigned b = 0; b < models; ++b) {
      expect(failed[b] == (b == bad ? 1u : 0u), "failed", lanes, width, b);
      for (unsigned e = 0; e < n * n && b != bad; ++e) {
        const unsigned i = e / n, j = e % n;
        double sum = 0;
        for (unsigned k = 0; k < n; ++k) sum += double{a[(b * n + i) * n + k]} * double{a[(b * n + j) * n + k]};
        expect(std::fabs(sum - before[b * n * n + e]) < 1e-5 * (n + 1 + b) && (j <= i || a[b * n * n + e] == 0),
               "cholesky_batch", lanes, width, e);
      }
    }
  }
}

// The rows to a group that msl/params.h recommends fit 16 KB.
void defaults() {
  for (uint columns = 1; columns <= 64; ++columns) {
    for (const uint inverse : {0u, 1u}) {
      const uint rows = sample_rows_per_group(columns, inverse);
      const unsigned long bytes = cholesky_batch_bytes(columns, cholesky_batch_models_per_group(columns));
      expect(bytes <= 32768, "cholesky_batch_models_per_group", rows, 32, columns);
      expect(rows >= 30 && sample_rows_bytes(columns, rows, inverse) <= 16384, "sample_rows_per_group", rows, 32,
             columns);
    }
  }
}

}  // namespace

int main(int, char** argv) {
  const std::string mode = argv[1];
  Runner runner;
  if (mode == "widths") {
    for (const unsigned width : {1u, 4u, 8u, 16u, 32u, 64u}) {
      for (const unsigned lanes : {1u, 2u, 31u, 32u, 33u, 63u, 64u, 65u, 130u, 1000u, 1024u}) {
        sums(runner, lanes, width);
        if (lanes > 1) answers(runner, lanes, width);
      }
    }
    for (const unsigned columns : {1u, 2u, 3u, 5u, 64u})
      for (const unsigned rows : {1u, 2u, 3u, 4u, 7u, 32u}) samples(runner, 9, columns, rows, 0);
    for (const unsigned width : {1u, 32u, 64u})
      for (const unsigned lanes : {1u, 31u, 64u, 130u})
        for (const unsigned n : {1u, 5u, 32u, 33u})
          for (const unsigned abreast : {1u, 3u, 8u})
            if (cholesky_batch_bytes(n, abreast) <= 32768) factors(runner, lanes, width, n, abreast);
    defaults();
  } else if (mode == "short") {
    samples(runner, 9, 2, 3, 1);
  } else {
    uint out[2];
    MatrixParams params = {1, 1};
    try {
      runner.run(reduction<wait_unevenly>("wait_unevenly", nullptr), {out, &params}, 2, 65, 0, 64);
    } catch (const covarium::Failure& failure) {
      puts(failure.what());
    }
  }
  return wrong == 0 ? 0 : 1;
}
