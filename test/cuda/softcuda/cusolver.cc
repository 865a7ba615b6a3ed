// A stand-in for the functions of cuSOLVER that objc/cuda calls: COVARIUM_CUSOLVER names the file of the stand-in for
// the driver.
//
//   SOFTCUDA_INFO=3      the status at the end of a decomposition (0: it has converged)
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

// Jacobi's method, by rotations in double. The matrix is column-major; only the upper triangle is read, and the
// eigenvectors replace the matrix, as columns in the order of ascending eigenvalues.
template <typename T>
void decompose(T* a, int n, T* values) {
  std::vector<double> m(size_t(n) * n), v(size_t(n) * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) m[i + size_t(j) * n] = m[j + size_t(i) * n] = a[i + size_t(j) * n];
  for (int i = 0; i < n; ++i) v[i + size_t(i) * n] = 1;
  // Entries so small change nothing in double.
  const double least = 1e-18 * std::sqrt(std::inner_product(m.begin(), m.end(), m.begin(), 0.0));
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
        if (std::fabs(apart) <= least) continue;
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

// Householder reflections of a column-major matrix (m x n), stored as in LAPACK: below the diagonal, which holds R's
// entries, with an implied 1 on it.
template <typename T>
void factor(T* a, int m, int n, T* tau) {
  for (int k = 0; k < std::min(m, n); ++k) {
    T* column = a + size_t(k) * m;
    double squares = 0;
    for (int i = k + 1; i < m; ++i) squares += double(column[i]) * column[i];
    const double before = column[k];
    if (squares == 0) {
      tau[k] = 0;
      continue;
    }
    const double length = before > 0 ? -std::sqrt(before * before + squares) : std::sqrt(before * before + squares);
    tau[k] = static_cast<T>((length - before) / length);
    for (int i = k + 1; i < m; ++i) column[i] = static_cast<T>(column[i] / (before - length));
    column[k] = static_cast<T>(length);
    for (int j = k + 1; j < n; ++j) {
      T* other = a + size_t(j) * m;
      double sum = other[k];
      for (int i = k + 1; i < m; ++i) sum += double(column[i]) * other[i];
      other[k] = static_cast<T>(other[k] - tau[k] * sum);
      for (int i = k + 1; i < m; ++i) other[i] = static_cast<T>(other[i] - tau[k] * sum * column[i]);
    }
  }
}

// The first n columns of the product of the reflections, in their place.
template <typename T>
void columnsOf(T* a, int m, int n, const T* tau) {
  std::vector<double> q(size_t(m) * n);
  for (int j = 0; j < n; ++j) q[j + size_t(j) * m] = 1;
  for (int k = n - 1; k >= 0; --k)
    for (int j = 0; j < n; ++j) {
      const T* reflection = a + size_t(k) * m;
      double* column = q.data() + size_t(j) * m;
      double sum = column[k];
      for (int i = k + 1; i < m; ++i) sum += double(reflection[i]) * column[i];
      column[k] -= tau[k] * sum;
      for (int i = k + 1; i < m; ++i) column[i] -= tau[k] * sum * reflection[i];
    }
  std::transform(q.begin(), q.end(), a, [](double value) { return static_cast<T>(value); });
}

// Jacobi's rotations of the columns (m x n, where m >= n). u (m x n) and vt (n x n) may be null.
template <typename T>
void singular(const T* a, int m, int n, T* values, T* u, T* vt) {
  std::vector<double> w(a, a + size_t(m) * n), turned(size_t(n) * n), norms(n);
  for (int j = 0; j < n; ++j) turned[j + size_t(j) * n] = 1;
  const auto product = [&](int p, int q) {
    return std::inner_product(w.begin() + size_t(p) * m, w.begin() + size_t(p + 1) * m, w.begin() + size_t(q) * m, 0.0);
  };
  for (int sweep = 0; sweep < 30; ++sweep)
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double pp = product(p, p), qq = product(q, q), pq = product(p, q);
        if (std::fabs(pq) <= 1e-16 * std::sqrt(pp * qq)) continue;
        const double theta = (qq - pp) / (2 * pq);
        const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        const auto rotate = [&](std::vector<double>& of, int rows) {
          for (int i = 0; i < rows; ++i) {
            double &x = of[i + size_t(p) * rows], &y = of[i + size_t(q) * rows];
            const double before = x;
            x = c * before - s * y;
            y = s * before + c * y;
          }
        };
        rotate(w, m);
        rotate(turned, n);
      }
  for (int j = 0; j < n; ++j) norms[j] = std::sqrt(product(j, j));
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int x, int y) { return norms[x] > norms[y]; });
  for (int j = 0; j < n; ++j) {
    const int from = order[j];
    values[j] = static_cast<T>(norms[from]);
    if (u == nullptr) continue;
    for (int i = 0; i < m; ++i) u[i + size_t(j) * m] = static_cast<T>(w[i + size_t(from) * m] / norms[from]);
    for (int i = 0; i < n; ++i) vt[j + size_t(i) * n] = static_cast<T>(turned[i + size_t(from) * n]);
  }
}

using Memory = const std::vector<void*>&;

// `run` gets the memory at these addresses, after the work memory and the status word.
template <typename T, typename Work>
int start(void* handle, int length, int wanted, std::vector<uint64_t> addresses, Work run) {
  if (length != wanted) return 3;
  const bool isStarted = enqueue("cusolver", static_cast<Handle*>(handle)->stream, addresses, [=](Memory memory) {
    memset(memory[0], 0x55, size_t(length) * sizeof(T));
    run(memory);
    *static_cast<int*>(memory[1]) = numberOf("SOFTCUDA_INFO", 0);
  });
  return isStarted ? 0 : 6;
}

int lengthFor(int n, int* length) { return *length = 3 * n, 0; }

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

#define CALLS(X, T)                                                                                                   \
  int cusolverDn##X##syevd_bufferSize(void*, int, int, int n, uint64_t, int, uint64_t, int* length) {                 \
    return lengthFor(n, length);                                                                                      \
  }                                                                                                                   \
  int cusolverDn##X##syevd(void* handle, int job, int triangle, int n, uint64_t a, int lda, uint64_t values,          \
                           uint64_t work, int length, uint64_t info) {                                                \
    if ((job != 0 && job != 1) || triangle != 1 || lda != n) return 3;                                                \
    return start<T>(handle, length, 3 * n, {work, info, a, values}, [=](Memory memory) {                              \
      decompose(static_cast<T*>(memory[2]), n, static_cast<T*>(memory[3]));                                           \
      if (job == 0) memset(memory[2], 0x55, size_t(n) * n * sizeof(T));                                               \
    });                                                                                                               \
  }                                                                                                                   \
  int cusolverDn##X##geqrf_bufferSize(void*, int, int n, uint64_t, int, int* length) { return lengthFor(n, length); } \
  int cusolverDn##X##geqrf(void* handle, int m, int n, uint64_t a, int lda, uint64_t tau, uint64_t work, int length,  \
                           uint64_t info) {                                                                           \
    if (lda != m) return 3;                                                                                           \
    return start<T>(handle, length, 3 * n, {work, info, a, tau},                                                      \
                    [=](Memory memory) { factor(static_cast<T*>(memory[2]), m, n, static_cast<T*>(memory[3])); });    \
  }                                                                                                                   \
  int cusolverDn##X##orgqr_bufferSize(void*, int, int n, int, uint64_t, int, uint64_t, int* length) {                 \
    return lengthFor(n, length);                                                                                      \
  }                                                                                                                   \
  int cusolverDn##X##orgqr(void* handle, int m, int n, int k, uint64_t a, int lda, uint64_t tau, uint64_t work,       \
                           int length, uint64_t info) {                                                               \
    if (lda != m || k != n || n > m) return 3;                                                                        \
    return start<T>(handle, length, 3 * n, {work, info, a, tau},                                                      \
                    [=](Memory memory) { columnsOf(static_cast<T*>(memory[2]), m, n, static_cast<T*>(memory[3])); }); \
  }
CALLS(S, float)
CALLS(D, double)

// objc/cuda does not call the float32 function.
int cusolverDnDgesvd_bufferSize(void*, int, int n, int* length) { return lengthFor(n, length); }
int cusolverDnDgesvd(void* handle, signed char left, signed char right, int m, int n, uint64_t a, int lda,
                     uint64_t values, uint64_t u, int ldu, uint64_t vt, int ldvt, uint64_t work, int length, uint64_t,
                     uint64_t info) {
  const bool hasVectors = left == 'S';
  if (m < n || lda != m || ldu != m || ldvt != n || left != right || hasVectors != (u != 0)) return 3;
  std::vector<uint64_t> addresses = {work, info, a, values};
  if (hasVectors) addresses.insert(addresses.end(), {u, vt});
  return start<double>(handle, length, 3 * n, addresses, [=](Memory memory) {
    singular(static_cast<const double*>(memory[2]), m, n, static_cast<double*>(memory[3]),
             hasVectors ? static_cast<double*>(memory[4]) : nullptr,
             hasVectors ? static_cast<double*>(memory[5]) : nullptr);
  });
}

}  // extern "C"
#pragma GCC visibility pop
