#include "decomposition.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "aligned-rows.h"
#include "blocked.h"
#include "lapack-call.h"
#include "pieces.h"
#include "unit.h"

namespace covarium::cpu {

namespace {

// The Euclidean norm, without overflow.
template <typename T>
double norm(const T* x, size_t n) {
  double largest = 0;
  for (size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(static_cast<double>(x[i])));
  if (!(largest > 0)) return largest;
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (x[i] / largest) * (x[i] / largest);
  return largest * std::sqrt(sum);
}

// The same up to a few roundings, in one pass if no square overflows or vanishes.
template <typename T>
double roughNorm(const T* x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum > 1e-280 && sum < 1e280 ? std::sqrt(sum) : norm(x, n);
}

// Rows a (m x n, `stride` apart) become L: its first k = min(m, n) columns are lower triangular, the rest is zero.
// `q` (k x n), if not null, gets the rows of Q.
template <typename T>
void factorRows(const Execution& execution, T* a, T* q, size_t m, size_t n, size_t stride) {
  if (m == 0) return;
  const auto& lapack = execution.blas.lapack<T>();
  const int rows = blasInt(m), columns = blasInt(n), lda = blasInt(stride);
  const size_t k = std::min(m, n);
  const int rank = static_cast<int>(k);
  if (isBlocked(execution, k)) {
    Reflections<T> reflections(a, stride, n, k);
    factorColumns(execution, a, stride, n, m, reflections);
    if (q != nullptr) {
      std::fill_n(q, k * n, T(0));
      for (size_t i = 0; i < k; ++i) q[i * n + i] = 1;
      reflections.applyAll(execution, q, n, k, true);
    }
    reflections.restore();
  } else {
    std::vector<T> tau(k);
    withWork<T>("geqrf", [&](T* work, const int* lwork, int* info) {
      lapack.geqrf(&columns, &rows, a, &lda, tau.data(), work, lwork, info);
    });
    if (q != nullptr) {
      for (size_t i = 0; i < k; ++i) std::copy_n(a + i * stride, n, q + i * n);
      withWork<T>("orgqr", [&](T* work, const int* lwork, int* info) {
        lapack.orgqr(&columns, &rank, &rank, q, &columns, tau.data(), work, lwork, info);
      });
    }
  }
  for (size_t i = 0; i < m; ++i) {
    T* row = a + i * stride;
    for (size_t j = i + 1; j < n; ++j) row[j] = 0;
  }
  // If its diagonal is not negative, the decomposition is unique.
  std::vector<T> signs(k);
  for (size_t j = 0; j < k; ++j) {
    signs[j] = a[j * stride + j] < 0 ? T(-1) : T(1);
    if (q == nullptr || signs[j] > 0) continue;
    for (size_t i = 0; i < n; ++i) q[j * n + i] = -q[j * n + i];
  }
  for (size_t i = 0; i < m; ++i) {
    const size_t last = std::min(i + 1, k);
    for (size_t j = 0; j < last; ++j) a[i * stride + j] *= signs[j];
  }
}

// One row after another by reflections, for rows that depend on those before them.
template <typename T>
void eliminateRows(const Execution& execution, T* rows, T* pivots, size_t m, size_t n, double tolerance) {
  std::vector<T> v(n);
  for (size_t i = 0, rank = 0; i < m; ++i) {
    execution.stopIfCancelled();
    T* row = rows + i * n;
    const double rest = norm(row + rank, n - rank);
    if (!(rest > 0) || rest <= tolerance * norm(row, n)) {
      std::fill(row + rank, row + n, T(0));
      pivots[i] = -1;
      continue;
    }
    // The reflection I - tau v v' that makes the rest positive in its first number (Golub and Van Loan, Matrix
    // Computations, 4th ed., algorithm 5.1.1). The numbers are divided by the norm, so that their squares neither
    // overflow nor vanish.
    const size_t count = n - rank;
    double others = 0;
    for (size_t k = 0; k < count; ++k) v[k] = static_cast<T>(row[rank + k] / rest);
    for (size_t k = 1; k < count; ++k) others += static_cast<double>(v[k]) * v[k];
    const double first = v[0];
    if (others > 0) {
      const double length = std::sqrt(first * first + others);
      const double head = first <= 0 ? first - length : -others / (first + length);
      const double tau = 2 * head * head / (others + head * head);
      for (size_t k = 1; k < count; ++k) v[k] = static_cast<T>(v[k] / head);
      v[0] = 1;
      // A share worth waking a thread for.
      const size_t share = std::max<size_t>(1, (size_t(1) << 15) / count);
      execution.pool.run((m - i - 1 + share - 1) / share, [&](size_t block, unsigned) {
        const size_t end = std::min(m, i + 1 + (block + 1) * share);
        for (size_t r = i + 1 + block * share; r < end; ++r) {
          T* other = rows + r * n + rank;
          T sum = 0;
          for (size_t k = 0; k < count; ++k) sum += v[k] * other[k];
          sum *= static_cast<T>(tau);
          for (size_t k = 0; k < count; ++k) other[k] -= sum * v[k];
        }
      });
    } else if (first < 0) {
      for (size_t r = i + 1; r < m; ++r) rows[r * n + rank] = -rows[r * n + rank];
    }
    std::fill(row + rank, row + n, T(0));
    row[rank] = static_cast<T>(rest);
    pivots[i] = static_cast<T>(rank++);
  }
}

// The singular values and right vectors of rows that differ mostly in length, by Jacobi's method; false, with nothing
// written, for many rows, and where squares of some would vanish beside those of others.
template <typename T>
bool gradedVectors(const Execution& execution, const T* a, T* values, T* v, size_t m, size_t n) {
  // A round goes through all rows: more would not stay in the cache.
  constexpr size_t mostRows = 256;
  constexpr int mostSweeps = 30;
  if (m > mostRows) return false;
  std::vector<double> lengths(m);
  std::vector<size_t> order(m);
  const auto sort = [&](const T* rows, size_t stride) {
    for (size_t i = 0; i < m; ++i) {
      lengths[i] = roughNorm(rows + i * stride, n);
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return lengths[i] > lengths[j]; });
    return lengths[order.back()] > std::ldexp(lengths[order[0]], std::numeric_limits<T>::min_exponent / 4);
  };
  if (!sort(a, n)) return false;
  AlignedRows<T> aligned(m, n);
  T* const rows = aligned[0];
  const size_t padded = aligned.stride;
  const T unit = std::ldexp(T(1), std::ilogb(lengths[order[0]]));
  for (size_t k = 0; k < m; ++k)
    for (size_t i = 0; i < n; ++i) rows[k * padded + i] = a[order[k] * n + i] / unit;
  // That of LAPACK's gesvj: cosines of n rows then add up to less than 30 n epsilon.
  const T tolerance = std::sqrt(static_cast<T>(n)) * std::numeric_limits<T>::epsilon();
  int sweep = 0;
  do {
    execution.stopIfCancelled();
    if (++sweep > mostSweeps) return false;
  } while (execution.kernels.of<T>().orthogonalizeRows(rows, m, padded, tolerance) > 0);
  if (!sort(rows, padded)) return false;
  for (size_t k = 0; k < m; ++k) {
    const T *row = rows + order[k] * padded, length = static_cast<T>(lengths[order[k]]);
    values[k] = length * unit;
    for (size_t i = 0; i < n; ++i) v[k * n + i] = row[i] / length;
  }
  return true;
}

}  // namespace

template <typename T>
void transpose(const Execution& execution, const T* from, T* to, size_t rows, size_t columns) {
  const auto transposeRows = execution.kernels.of<T>().transposeRows;
  // Bands of rows that are a share worth waking a thread for.
  constexpr size_t side = 32;
  const size_t band = std::max<size_t>(1, pieceElements / (side * std::max<size_t>(1, columns))) * side;
  execution.pool.run((rows + band - 1) / band, [&](size_t task, unsigned) {
    transposeRows(from, to, rows, columns, task * band, std::min(rows, (task + 1) * band));
  });
}

// LAPACK's upper triangle is the row-major lower one, and its columns of vectors are rows.
template <typename T>
void symmetricEigen(const Execution& execution, T* a, T* values, size_t n, bool vectors) {
  const T power = raise(a, n, n, true);
  if (vectors && isBlocked(execution, n)) {
    blockedEigen(execution, a, values, n);
    return multiply(values, n, 1 / power);
  }
  const int order = blasInt(n);
  int integers = 0, query = -1, info = 0;
  T size = 0;
  const char* job = vectors ? "V" : "N";
  const auto& syevd = execution.blas.lapack<T>().syevd;
  syevd(job, "U", &order, a, &order, values, &size, &query, &integers, &query, &info);
  requireDone("syevd", info);
  const int length = workLength(size);
  std::vector<T> work(length);
  std::vector<int> iwork(integers);
  syevd(job, "U", &order, a, &order, values, work.data(), &length, iwork.data(), &integers, &info);
  requireDone("syevd", info);
  multiply(values, n, 1 / power);
}

// Blocked reflections where every row has a pivot, which is the rule; else one row after another.
template <typename T>
void echelon(const Execution& execution, T* rows, T* pivots, size_t m, size_t n, double tolerance) {
  const T power = raise(rows, m, n);
  size_t width = 0;
  for (size_t i = 0; i < m; ++i) {
    size_t end = n;
    while (end > width && rows[i * n + end - 1] == 0) --end;
    width = std::max(width, end);
  }
  if (m <= width) {
    const RealKernels<T>& kernels = execution.kernels.of<T>();
    AlignedRows<T> made(m + 1, width);
    const auto begin = [&] {
      for (size_t i = 0; i < m; ++i) std::copy_n(rows + i * n, width, made[i]);
    };
    begin();
    const bool isFew = !isBlocked(execution, m);
    if (!isFew || !kernels.factorRows(made[0], m, made.stride, made[m])) {
      if (isFew) begin();
      factorRows<T>(execution, made[0], nullptr, m, width, made.stride);
    }
    std::vector<T> squares(m);
    kernels.squaredNorms(rows, squares.data(), m, n);
    bool full = true;
    for (size_t i = 0; i < m && full; ++i) {
      const bool isHeld = squares[i] > std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
      const double length = isHeld ? std::sqrt(static_cast<double>(squares[i])) : norm(rows + i * n, width);
      const double pivot = made[i][i];
      full = pivot > 0 && pivot > tolerance * length;
    }
    if (full) {
      for (size_t i = 0; i < m; ++i) {
        std::fill(std::copy_n(made[i], i + 1, rows + i * n), rows + i * n + width, T(0));
        pivots[i] = static_cast<T>(i);
      }
      return multiply(rows, m * n, 1 / power);
    }
  }
  eliminateRows(execution, rows, pivots, m, n, tolerance);
  multiply(rows, m * n, 1 / power);
}

template <typename T>
void lq(const Execution& execution, T* a, T* q, size_t m, size_t n) {
  // Each row has its own power: q stays, and a column of R keeps the digits of tiny numbers beside huge columns.
  std::vector<T> powers(m);
  for (size_t i = 0; i < m; ++i) {
    powers[i] = powerBetween(a + i * n, n);
    multiply(a + i * n, n, powers[i]);
  }
  factorRows(execution, a, q, m, n, n);
  for (size_t i = 0; i < m; ++i) multiply(a + i * n, n, 1 / powers[i]);
}

// The transpose's left vectors are our right ones, and LAPACK's columns our rows.
template <typename T>
void svd(const Execution& execution, T* a, T* u, T* values, T* v, size_t m, size_t n, bool graded) {
  if (m == 0) return;
  const int rows = blasInt(m), columns = blasInt(n), rank = std::min(rows, columns);
  const auto& lapack = execution.blas.lapack<T>();
  const T power = raise(a, m, n);
  if (!graded) {
    if (m == n && u != nullptr && isBlocked(execution, n)) {
      blockedSvd(execution, a, v, values, u, n);
      return multiply(values, n, 1 / power);
    }
    std::vector<int> iwork(8 * static_cast<size_t>(rank));
    withWork<T>("gesdd", [&](T* work, const int* lwork, int* info) {
      lapack.gesdd(u == nullptr ? "N" : "S", &columns, &rows, a, &columns, values, v, &columns, u, &rank, work, lwork,
                   iwork.data(), info);
    });
    return multiply(values, rank, 1 / power);
  }
  std::vector<T> left;
  if (u == nullptr) {
    if (gradedVectors(execution, a, values, v, m, n)) return multiply(values, m, 1 / power);
    left.resize(m * m);
    u = left.data();
  }
  const int length = blasInt(std::max<size_t>(2 * n + m, 6 * m + 2 * m * m) + 7);
  std::vector<T> work(length);
  std::vector<int> iwork(n + 3 * m);
  int info = 0;
  lapack.gejsv("F", "U", "V", "N", "N", "N", &columns, &rows, a, &columns, values, v, &columns, u, &rows, work.data(),
               &length, iwork.data(), &info);
  requireDone("gejsv", info);
  const T scale = work[0] / work[1];
  if (scale != 1)
    for (size_t i = 0; i < m; ++i) values[i] *= scale;
  multiply(values, m, 1 / power);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < i; ++j) std::swap(u[i * m + j], u[j * m + i]);
}

template <typename T>
void pivotedCholesky(const Execution& execution, T* a, T* order, size_t n, double tolerance) {
  const int size = blasInt(n);
  std::vector<int> pivots(n);
  std::vector<T> work(2 * n);
  int rank = 0, info = 0;
  const T power = raise(a, n, n, true);
  // A tolerance below zero would ask LAPACK to choose one.
  const T least = static_cast<T>(std::max(0.0, tolerance) * power);
  execution.blas.lapack<T>().pstrf("U", &size, a, &size, pivots.data(), &rank, &least, work.data(), &info);
  if (info < 0) requireDone("pstrf", info);
  const auto taken = static_cast<size_t>(rank);
  const std::vector<T> lower(a, a + n * n);
  for (size_t i = 0; i < n; ++i) {
    T* row = a + (pivots[i] - 1) * n;
    const size_t known = std::min(i + 1, taken);
    std::copy_n(lower.data() + i * n, known, row);
    std::fill(row + known, row + n, T(0));
    order[i] = i < taken ? static_cast<T>(pivots[i] - 1) : T(-1);
  }
  multiply(a, n * n, 1 / std::sqrt(power));
}

template <typename T>
void lu(const Execution& execution, T* a, T* pivots, size_t n) {
  std::vector<int> rows(n);
  const T power = raise(a, n, n);
  std::vector<int> shifts = columnShifts(a, n);
  raiseColumns(a, shifts);
  if (execution.blas.hasMatrixUnit) {
    const int size = blasInt(n);
    int info = 0;
    execution.blas.lapack<T>().getrf(&size, &size, a, &size, rows.data(), &info);
    if (info < 0) requireDone("getrf", info);
    for (int& row : rows) --row;
  } else if (isBlocked(execution, n)) {
    blockedLu(execution, a, rows.data(), n);
  } else {
    execution.kernels.of<T>().factorLu(a, n, n, n, rows.data());
  }
  lowerTriangles(a, shifts, rows);
  // Only the triangle on and above LAPACK's diagonal: the other one holds numbers relative to its pivots.
  for (size_t i = 0; i < n; ++i) multiply(a + i * n, i + 1, 1 / power);
  std::copy(rows.begin(), rows.end(), pivots);
}

// LAPACK has factored the transpose, so our solve is its transposed solve.
template <typename T>
void luSolve(const Execution& execution, const T* lu, const T* pivots, T* rows, size_t count, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (lu[i * n + i] == 0) {  // or subnormal, as on the reference device
      Failure failure("ERR_SINGULAR", "Matrix is singular: pivot (" + std::to_string(i) + ") is (0).");
      failure.pivot = static_cast<int64_t>(i);
      throw failure;
    }
  std::vector<T> raised;
  const T power = powerFor(lu, n, n, true);
  if (power != 1) {
    raised.assign(lu, lu + n * n);
    for (size_t i = 0; i < n; ++i) multiply(raised.data() + i * n, i + 1, power);
    lu = raised.data();
  }
  std::vector<int> swaps(n);
  for (size_t i = 0; i < n; ++i) swaps[i] = static_cast<int>(pivots[i]);
  if (execution.blas.hasMatrixUnit) {
    const int size = blasInt(n), columns = blasInt(count);
    for (int& swap : swaps) ++swap;
    int info = 0;
    execution.blas.lapack<T>().getrs("T", &size, &columns, lu, &size, swaps.data(), rows, &size, &info);
    requireDone("getrs", info);
  } else {
    // The reciprocal of a larger pivot would be flushed to 0.
    const T largest = 1 / std::numeric_limits<T>::min(), quarter = T(0.25);
    for (size_t i = 0; i < n; ++i) {
      if (std::abs(lu[i * n + i]) <= largest) continue;
      if (raised.empty()) raised.assign(lu, lu + n * n);
      lu = raised.data();
      multiply(raised.data() + i * n, i + 1, quarter);
      for (size_t r = 0; r < count; ++r) multiply(rows + r * n + i, 1, quarter);
    }
    blockedLuSolve(execution, lu, swaps.data(), rows, count, n);
  }
  multiply(rows, count * n, power);
}

#define COVARIUM_DECOMPOSITIONS(T)                                           \
  template void transpose(const Execution&, const T*, T*, size_t, size_t);   \
  template void symmetricEigen(const Execution&, T*, T*, size_t, bool);      \
  template void echelon(const Execution&, T*, T*, size_t, size_t, double);   \
  template void lq(const Execution&, T*, T*, size_t, size_t);                \
  template void svd(const Execution&, T*, T*, T*, T*, size_t, size_t, bool); \
  template void pivotedCholesky(const Execution&, T*, T*, size_t, double);   \
  template void lu(const Execution&, T*, T*, size_t);                        \
  template void luSolve(const Execution&, const T*, const T*, T*, size_t, size_t);
COVARIUM_DECOMPOSITIONS(float)
COVARIUM_DECOMPOSITIONS(double)

}  // namespace covarium::cpu
