#include "linear-algebra.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../../objc/cpu/blas.h"

namespace softmetal {

namespace {

const covarium::cpu::BlasRoutines<float>& routines() {
  static std::string reason;
  static const covarium::cpu::Blas* const blas = covarium::cpu::installedBlas(reason);
  if (blas == nullptr) {
    fprintf(stderr, "softmetal: MPS needs a BLAS library: %s\n", reason.c_str());
    abort();
  }
  return blas->float32;
}

const char* flag(bool transposed) { return transposed ? "T" : "N"; }

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

void solveTriangular(const View& a, Triangle triangle, double alpha, const View& b) {
  const int m = static_cast<int>(b.columns), n = static_cast<int>(b.rows);
  const int strideA = a.stride(), strideB = b.stride();
  const float scale = static_cast<float>(alpha);
  routines().trsm(triangle.right ? "L" : "R", triangle.upper ? "L" : "U", flag(triangle.transpose),
                  triangle.unit ? "U" : "N", &m, &n, &scale, &a.at(0, 0), &strideA, &b.at(0, 0), &strideB);
}

int factor(const View& a, bool lower) {
  const int n = static_cast<int>(a.rows), stride = a.stride();
  int info = 0;
  routines().potrf(lower ? "U" : "L", &n, &a.at(0, 0), &stride, &info);
  return info == 0 ? -1 : info - 1;
}

}  // namespace softmetal
