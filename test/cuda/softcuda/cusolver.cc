// A stand-in for what objc/cuda calls of cuSOLVER: COVARIUM_CUSOLVER names the file of the stand-in for the driver.
//
//   SOFTCUDA_INFO=3      what a decomposition says at its end (0: it has converged)
//   SOFTCUDA_STARTS=500  milliseconds that it takes to start
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "cublas.h"
#include "faults.h"

namespace {

struct Handle {
  void* stream = nullptr;
};

// Jacobi's method, by rotations in double. Columns lie one after the other; only the upper triangle is read, and
// columns of eigenvectors take the matrix's place, by ascending value.
template <typename T>
void decompose(T* a, int n, T* values) {
  std::vector<double> m(size_t(n) * n), v(size_t(n) * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) m[i + size_t(j) * n] = m[j + size_t(i) * n] = a[i + size_t(j) * n];
  for (int i = 0; i < n; ++i) v[i + size_t(i) * n] = 1;
  const auto rotate = [n](std::vector<double>& of, int p, int q, double c, double s, bool columns) {
    for (int k = 0; k < n; ++k) {
      double& x = columns ? of[k + size_t(p) * n] : of[p + size_t(k) * n];
      double& y = columns ? of[k + size_t(q) * n] : of[q + size_t(k) * n];
      const double before = x;
      x = c * before - s * y;
      y = s * before + c * y;
    }
  };
  for (int sweep = 0; sweep < 30; ++sweep)
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double apart = m[p + size_t(q) * n];
        if (std::fabs(apart) < 1e-300) continue;
        const double theta = (m[q + size_t(q) * n] - m[p + size_t(p) * n]) / (2 * apart);
        const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        rotate(m, p, q, c, s, true);
        rotate(m, p, q, c, s, false);
        rotate(v, p, q, c, s, true);
      }
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int x, int y) { return m[x + size_t(x) * n] < m[y + size_t(y) * n]; });
  for (int j = 0; j < n; ++j) {
    values[j] = static_cast<T>(m[order[j] + size_t(order[j]) * n]);
    for (int i = 0; i < n; ++i) a[i + size_t(j) * n] = static_cast<T>(v[i + size_t(order[j]) * n]);
  }
}

template <typename T>
int eigen(void* handle, int job, int triangle, int n, uint64_t a, int lda, uint64_t values, uint64_t work, int length,
          uint64_t info) {
  if (job != 1 || triangle != 1 || lda != n || length != 3 * n) return 3;
  const bool isStarted = enqueue("cusolver", static_cast<Handle*>(handle)->stream, {a, values, work, info},
                                 [=](const std::vector<void*>& memory) {
                                   memset(memory[2], 0x55, size_t(length) * sizeof(T));
                                   decompose(static_cast<T*>(memory[0]), n, static_cast<T*>(memory[1]));
                                   *static_cast<int*>(memory[3]) = numberOf("SOFTCUDA_INFO", 0);
                                 });
  return isStarted ? 0 : 6;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cusolverDnCreate(void** handle) {
  std::this_thread::sleep_for(std::chrono::milliseconds(numberOf("SOFTCUDA_STARTS", 0)));
  if (const int code = faultOf("cusolverDnCreate")) return code;
  return *handle = new Handle, 0;
}
int cusolverDnDestroy(void* handle) { return delete static_cast<Handle*>(handle), 0; }
int cusolverDnSetStream(void* handle, void* stream) { return static_cast<Handle*>(handle)->stream = stream, 0; }
int cusolverGetProperty(int property, int* value) { return *value = property == 0 ? 98 : 7, 0; }
int cusolverDnSsyevd_bufferSize(void*, int, int, int n, uint64_t, int, uint64_t, int* length) {
  return *length = 3 * n, 0;
}
int cusolverDnDsyevd_bufferSize(void*, int, int, int n, uint64_t, int, uint64_t, int* length) {
  return *length = 3 * n, 0;
}
int cusolverDnSsyevd(void* handle, int job, int triangle, int n, uint64_t a, int lda, uint64_t values, uint64_t work,
                     int length, uint64_t info) {
  return eigen<float>(handle, job, triangle, n, a, lda, values, work, length, info);
}
int cusolverDnDsyevd(void* handle, int job, int triangle, int n, uint64_t a, int lda, uint64_t values, uint64_t work,
                     int length, uint64_t info) {
  return eigen<double>(handle, job, triangle, n, a, lda, values, work, length, info);
}

}  // extern "C"
#pragma GCC visibility pop
