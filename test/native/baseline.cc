// Prints hashes of what the baseline kernels compute, which need no more than the processor's architecture:
// test/native/baseline.test.ts builds this for arm64.
//
// normals SEED STREAM FIRST COUNT      of float64 normals
// stretched SEED STREAM FIRST COUNT NU of rows of 1, stretched from 0
//
// Both are computed as on the device: with subnormal numbers flushed.
//
// draws DTYPE N ROWS                    of rows of a normal of N dimensions, from its covariance on (draw-bits.test.ts)
//
// subnormal                            sums of subnormal products, each flushed, kept, and after both
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cpu/cholesky.h"
#include "cpu/float-mode.h"
#include "cpu/sample.h"
#include "cpu/simd/kernels.h"
#include "threadgroup.h"

namespace covarium {
// Needed by threadgroups, which nothing here uses.
SimdLanes simd_exchange_bits(uint64_t) { return {}; }
void threadgroup_barrier() {}
}  // namespace covarium

namespace {

using namespace covarium;

// |row|^2 of 61 numbers whose squares are subnormal, and the same as a product of a matrix and a vector.
template <typename T>
void printTiny(const cpu::RealKernels<T>& kernels, T tiny) {
  constexpr size_t n = 61;
  std::vector<T> row(n, tiny);
  T norm = -1, product = -1;
  kernels.squaredNorms(row.data(), &norm, 1, n);
  kernels.matrixVector(row.data(), row.data(), &product, 1, n, T(1), T(0), false);
  printf("%.3g %.3g\n", static_cast<double>(norm), static_cast<double>(product));
}

void printSubnormal() {
  const auto print = [] {
    printTiny<float>(cpu::kernelsBaseline().float32, 1e-20f);
    printTiny<double>(cpu::kernelsBaseline().float64, 1e-160);
  };
  {
    const auto flushing = cpu::FloatModeScope::flushing();
    print();
    const auto keeping = cpu::FloatModeScope::keeping();
    print();
  }
  print();
}

uint32_t hashOf(const void* values, size_t sizeBytes) {
  std::vector<uint32_t> words(sizeBytes / sizeof(uint32_t));
  memcpy(words.data(), values, sizeBytes);
  uint32_t hash = 0;
  for (const uint32_t each : words) hash = hash * 31 + each;
  return hash;
}

template <typename T>
uint32_t drawsHash(size_t n, size_t rows) {
  std::vector<T> factor(n * n), mean(n), out(rows * n);
  for (size_t i = 0; i < n; ++i) {
    mean[i] = static_cast<T>(i) / 8;
    for (size_t j = 0; j < n; ++j) {
      const size_t apart = i < j ? j - i : i - j;
      factor[i * n + j] = T(1) / static_cast<T>(1 + apart) + (apart == 0 ? T(1) : T(0));
    }
  }
  const cpu::KernelTable& kernels = cpu::kernelsBaseline();
  cpu::Blas own;
  own.isBuiltIn = true;
  own.float32 = kernels.float32.products;
  own.float64 = kernels.float64.products;
  cpu::Pool pool(2);
  const std::atomic<bool> never{false};
  const cpu::Execution execution = {pool, kernels, own, never, never};
  cpu::cholesky(execution, factor.data(), n);
  cpu::sample(execution, factor.data(), mean.data(), out.data(), rows, n, false, NormalCounter{42, 7, 0});
  return hashOf(out.data(), out.size() * sizeof(T));
}

}  // namespace

int main(int, char** arguments) {
  if (arguments[1] == std::string("subnormal")) {
    printSubnormal();
    return 0;
  }
  const auto flushing = cpu::FloatModeScope::flushing();
  const auto word = [&](int i) { return std::strtoull(arguments[i], nullptr, 10); };
  if (arguments[1] == std::string("draws")) {
    const auto hash = arguments[2] == std::string("float32") ? drawsHash<float> : drawsHash<double>;
    printf("%s %08x\n", cpu::kernelsBaseline().instructionSet, hash(word(3), word(4)));
    return 0;
  }
  const NormalCounter counter = {word(2), word(3), word(4)};
  const cpu::RealKernels<double>& kernels = cpu::kernelsBaseline().float64;
  std::vector<double> values(word(5), 1.0);
  if (arguments[1] == std::string("normals")) {
    kernels.fillNormal(values.data(), values.size(), counter);
  } else {
    const double location = 0;
    kernels.stretchRows(values.data(), &location, 0, values.size(), 1, std::strtod(arguments[6], nullptr), counter);
  }
  printf("%s %08x\n", cpu::kernelsBaseline().instructionSet, hashOf(values.data(), values.size() * sizeof(double)));
}
