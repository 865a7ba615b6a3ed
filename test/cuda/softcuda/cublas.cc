// A stand-in for the functions of cuBLAS that objc/cuda calls: COVARIUM_CUBLAS names the file of the stand-in for the
// driver.
#include "cublas.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace {

struct Handle {
  void* stream = nullptr;
};

// Columns lie one after the other.
template <typename T>
int gemm(void* handle, int transposeA, int transposeB, int m, int n, int k, const T* alpha, uint64_t a, int lda,
         uint64_t b, int ldb, const T* beta, uint64_t c, int ldc) {
  if (lda < (transposeA ? k : m) || ldb < (transposeB ? n : k) || ldc < m) return 7;
  const T scale = *alpha, old = *beta;
  const bool isStarted =
      enqueue("cublas", static_cast<Handle*>(handle)->stream, {a, b, c}, [=](const std::vector<void*>& memory) {
        const auto at = [&](int which, int i, int j, int stride, bool transposed) {
          return static_cast<const T*>(
              memory[which])[transposed ? j + ptrdiff_t{i} * stride : i + ptrdiff_t{j} * stride];
        };
        auto* out = static_cast<T*>(memory[2]);
        // Copied, so that the innermost loop reads neighbours and adds them in vectors.
        std::vector<T> left(size_t(m) * k), sums(m);
        for (int l = 0; l < k; ++l)
          for (int i = 0; i < m; ++i) left[i + size_t(l) * m] = at(0, i, l, lda, transposeA != 0);
        for (int j = 0; j < n; ++j) {
          std::fill(sums.begin(), sums.end(), T(0));
          for (int l = 0; l < k; ++l) {
            const T right = at(1, l, j, ldb, transposeB != 0);
            for (int i = 0; i < m; ++i) sums[i] += left[i + size_t(l) * m] * right;
          }
          for (int i = 0; i < m; ++i) {
            T& entry = out[i + ptrdiff_t{j} * ldc];
            entry = scale * sums[i] + (old == 0 ? T(0) : old * entry);
          }
        }
      });
  return isStarted ? 0 : 13;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cublasCreate_v2(void** handle) { return *handle = new Handle, 0; }
int cublasDestroy_v2(void* handle) { return delete static_cast<Handle*>(handle), 0; }
int cublasSetStream_v2(void* handle, void* stream) { return static_cast<Handle*>(handle)->stream = stream, 0; }
int cublasGetProperty(int property, int* value) { return *value = property == 0 ? 99 : 1, 0; }

int cublasSgemm_v2(void* handle, int transposeA, int transposeB, int m, int n, int k, const float* alpha, uint64_t a,
                   int lda, uint64_t b, int ldb, const float* beta, uint64_t c, int ldc) {
  return gemm(handle, transposeA, transposeB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
int cublasDgemm_v2(void* handle, int transposeA, int transposeB, int m, int n, int k, const double* alpha, uint64_t a,
                   int lda, uint64_t b, int ldb, const double* beta, uint64_t c, int ldc) {
  return gemm(handle, transposeA, transposeB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // extern "C"
#pragma GCC visibility pop
