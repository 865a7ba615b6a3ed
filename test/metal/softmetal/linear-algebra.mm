#include "linear-algebra.h"

#include <cmath>
#include <string>

#include "../../../objc/cpu/processor.h"
#include "../../../objc/cpu/simd/kernels.h"

namespace softmetal {

namespace {

// The products of the cpu device, so that the stand-in needs no library.
const covarium::cpu::BlasRoutines<float>& routines() {
  static const covarium::cpu::KernelTable& kernels = covarium::cpu::kernels();
  return kernels.float32.products;
}

const char* flag(bool transposed) { return transposed ? "T" : "N"; }

// A view, or its transpose.
struct Entries {
  const View& view;
  bool transposed;
  float& at(size_t row, size_t column) const { return transposed ? view.at(column, row) : view.at(row, column); }
};

}  // namespace

void multiply(const View& a, bool transposeA, const View& b, bool transposeB, const View& c, double alpha,
              double beta) {
  const int m = static_cast<int>(c.rows), n = static_cast<int>(c.columns);
  const int k = static_cast<int>(transposeA ? a.rows : a.columns);
  const int strideA = a.stride(), strideB = b.stride(), strideC = c.stride();
  const float scale = static_cast<float>(alpha), keep = static_cast<float>(beta);
  routines().gemm(flag(transposeB), flag(transposeA), &n, &m, &k, &scale, &b.at(0, 0), &strideB, &a.at(0, 0), &strideA,
                  &keep, &c.at(0, 0), &strideC);
}

int factor(const View& a, bool lower) {
  const Entries l = {a, !lower};
  for (size_t j = 0; j < a.rows; ++j) {
    for (size_t i = j; i < a.rows; ++i) {
      float sum = l.at(i, j);
      for (size_t k = 0; k < j; ++k) sum -= l.at(i, k) * l.at(j, k);
      if (i == j && !(sum > 0)) return static_cast<int>(j);
      l.at(i, j) = i == j ? std::sqrt(sum) : sum / l.at(j, j);
    }
  }
  return -1;
}

}  // namespace softmetal
