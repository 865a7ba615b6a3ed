// Products of general matrices, cut into shares of the result: by BLAS, and of rows by a vector by our own.
#pragma once

#include <algorithm>
#include <atomic>

#include "triangular.h"

namespace covarium::cpu {

// Entries of a matrix that one thread has read before another would have come, by a vector.
constexpr size_t vectorAlone = 100000;
// With more entries for each thread the matrix fits no core's cache, and a cancelled commit would wait.
constexpr size_t vectorShare = 1 << 22;

// y = alpha matrix x + beta y, `outputs` entries of y. The matrix has a row for each of them, or, `transposed`, a
// column.
template <typename T>
void multiplyVector(const Execution& execution, const T* matrix, bool transposed, size_t outputs, size_t k, T alpha,
                    const T* x, T beta, T* y) {
  if (outputs == 0) return;
  if (outputs == 1) transposed = false;  // one column is one row
  // Back and forth: what the last product read last is still in the cache, while going round would always find it gone.
  static std::atomic<bool> turn{false};
  const bool backward = turn.exchange(!turn);
  const int inner = blasInt(k), stride = transposed ? blasInt(outputs) : inner, one = 1;
  const auto entries = [&](size_t first, size_t count) {
    const int wide = blasInt(count);
    if (transposed) {
      execution.blas.of<T>().gemv("N", &wide, &inner, &alpha, matrix + first, &stride, x, &one, &beta, y + first, &one);
    } else if (execution.blas.hasMatrixUnit) {
      execution.blas.of<T>().gemv("T", &inner, &wide, &alpha, matrix + first * k, &stride, x, &one, &beta, y + first,
                                  &one);
    } else {
      execution.kernels.of<T>().matrixVector(matrix + first * k, x, y + first, count, k, alpha, beta, backward);
    }
  };
  if (outputs * k < vectorAlone) return entries(0, outputs);
  const size_t threads = execution.pool.threads();
  const size_t shares = (outputs * k / (threads * vectorShare) + 1) * threads;
  const size_t share = (outputs + shares - 1) / shares;
  forRowBlocks(execution, outputs, (share + 15) / 16 * 16,
               [&](size_t first, size_t count, unsigned) { entries(first, count); });
}

// From this order on, half of a symmetric product costs less than all of it.
constexpr size_t symmetricOrder = 128;

// c = alpha a a' or alpha a' a: the blocks on and below the diagonal, and then their mirror.
template <typename T>
void multiplyByItself(const Execution& execution, const T* a, T* c, const ProductShape& shape) {
  constexpr size_t side = 64;
  const size_t order = shape.m, blocks = (order + side - 1) / side;
  const T alpha = static_cast<T>(shape.alpha), zero = 0;
  const int n = blasInt(order), k = blasInt(shape.k), stride = shape.transposeA ? n : k;
  // The longest rows first, so that no thread is left with them at the end.
  execution.pool.run(blocks, [&](size_t before, unsigned) {
    execution.stopIfCancelled();
    const size_t first = (blocks - 1 - before) * side, last = std::min(order, first + side);
    const int rows = blasInt(last - first), columns = blasInt(last);
    const T* block = a + (shape.transposeA ? first : first * shape.k);
    execution.blas.of<T>().gemm(shape.transposeB ? "T" : "N", shape.transposeA ? "T" : "N", &columns, &rows, &k, &alpha,
                                a, &stride, block, &stride, &zero, c + first * order, &n);
  });
  execution.pool.run(blocks, [&](size_t block, unsigned) {
    const size_t first = block * side, last = std::min(order, first + side);
    for (size_t column = first; column < order; column += side)
      for (size_t i = first; i < last; ++i)
        for (size_t j = std::max(i + 1, column); j < std::min(order, column + side); ++j)
          c[i * order + j] = c[j * order + i];
  });
}

// c = alpha a b + beta c, by blocks of rows of c. Columns are cut too where rows are too few for the threads, and into
// wide shares, which cost nothing, so that a slow core has fewer of them.
template <typename T>
void multiply(const Execution& execution, const T* a, const T* b, T* c, const ProductShape& shape) {
  if (shape.m == 0) return;
  const T alpha = static_cast<T>(shape.alpha), beta = static_cast<T>(shape.beta);
  // An alpha of 0 leaves nothing to sum: times a sum that overflows it would be NaN, also in OpenBLAS.
  const int n = blasInt(shape.n), k = alpha == 0 ? 0 : blasInt(shape.k);
  // Where there is nothing to sum gemm still applies beta, and gemv does not.
  if (k != 0) {
    if (shape.m == 1) return multiplyVector(execution, b, !shape.transposeB, shape.n, shape.k, alpha, a, beta, c);
    if (shape.n == 1) return multiplyVector(execution, a, shape.transposeA, shape.m, shape.k, alpha, b, beta, c);
    if (a == b && shape.m == shape.n && shape.transposeA != shape.transposeB && beta == 0 && shape.m >= symmetricOrder)
      return multiplyByItself(execution, a, c, shape);
  }
  const int strideA = blasInt(shape.transposeA ? shape.m : shape.k), strideB = shape.transposeB ? blasInt(shape.k) : n;
  const unsigned threads = execution.pool.threads();
  const size_t rows = balancedRows(shape.m, 1024, unsigned(std::clamp<size_t>(shape.m / 64, 1, threads))),
               blocks = (shape.m + rows - 1) / rows;
  constexpr size_t leastWork = 1 << 17;  // of a share that is worth waking a thread for
  const size_t useful = std::min<size_t>(threads, shape.m * shape.n * shape.k / leastWork);
  const size_t finer = threads == 1 ? 1 : std::min<size_t>(4, shape.n / 1024);
  const size_t cuts = std::max({size_t(1), (useful + blocks - 1) / blocks, finer});
  const size_t columns = std::max<size_t>(64, ((shape.n + cuts - 1) / cuts + 15) / 16 * 16);
  execution.pool.run(blocks * ((shape.n + columns - 1) / columns), [&](size_t task, unsigned) {
    execution.stopIfCancelled();
    const size_t row = task % blocks * rows, column = task / blocks * columns;
    const int m = blasInt(std::min(rows, shape.m - row)), wide = blasInt(std::min(columns, shape.n - column));
    const T* left = a + (shape.transposeA ? row : row * shape.k);
    const T* right = b + (shape.transposeB ? column * shape.k : column);
    execution.blas.of<T>().gemm(shape.transposeB ? "T" : "N", shape.transposeA ? "T" : "N", &wide, &m, &k, &alpha,
                                right, &strideB, left, &strideA, &beta, c + row * shape.n + column, &n);
  });
}

}  // namespace covarium::cpu
