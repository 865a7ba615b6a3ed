// Products and solves on row-major matrices by BLAS, which is column-major: there a row-major matrix is its transpose,
// and rows x of a row-major matrix are columns.
#pragma once

#include <algorithm>
#include <climits>

#include "execution.h"

namespace covarium::cpu {

// Library integers have 32 bits. Rows are cut into blocks that fit; a dimension that does not is refused.
inline int blasInt(size_t size) {
  if (size > INT_MAX)
    throw Failure("ERR_TOO_LARGE", "Dimension (" + std::to_string(size) + ") is beyond what BLAS can count.");
  return static_cast<int>(size);
}

// Rows x <- factor x, or factor' x. On the calling thread.
template <typename T>
void multiplyRows(const Execution& execution, const T* factor, T* rows, size_t count, size_t n, bool transposed) {
  const int order = blasInt(n), columns = blasInt(count);
  const T one = 1;
  execution.blas.of<T>().trmm("L", "U", transposed ? "N" : "T", "N", &order, &columns, &one, factor, &order, rows,
                              &order);
}

// Rows x <- y with factor y = x, in blocks of columns: a product with the columns before, then our own solve; a few
// rows by our own alone. Strides count elements. On the calling thread.
template <typename T>
void solveRowsForward(const Execution& execution, const T* factor, size_t factorStride, T* rows, size_t stride,
                      size_t count, size_t n) {
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  if (count <= kernels.fewRows) return kernels.solveFewRows(factor, factorStride, rows, stride, count, n);
  const int lda = blasInt(factorStride), ldb = blasInt(stride), m = blasInt(count);
  const T one = 1, minusOne = -1;
  for (size_t first = 0; first < n; first += kernels.solveLimit) {
    const size_t wide = n - first < kernels.solveLimit ? n - first : kernels.solveLimit;
    const int columns = static_cast<int>(wide), before = static_cast<int>(first);
    if (first != 0) {
      execution.blas.of<T>().gemm("T", "N", &columns, &m, &before, &minusOne, factor + first * factorStride, &lda, rows,
                                  &ldb, &one, rows + first, &ldb);
    }
    kernels.solveRows(factor + first * factorStride + first, factorStride, rows + first, stride, count, wide);
  }
}

// True where factor y = x is solved by our own code, whatever the library.
template <typename T>
bool solvesItself(const Execution& execution, size_t n) {
  return !execution.blas.hasMatrixUnit || n <= execution.kernels.of<T>().abreastLimit;
}

// Rows x <- y with factor y = x, or factor' y = x. On the calling thread.
template <typename T>
void solveRows(const Execution& execution, const T* factor, T* rows, size_t count, size_t n, bool transposed) {
  if (!transposed && solvesItself<T>(execution, n)) return solveRowsForward(execution, factor, n, rows, n, count, n);
  const int order = blasInt(n), columns = blasInt(count);
  const T one = 1;
  execution.blas.of<T>().trsm("L", "U", transposed ? "N" : "T", "N", &order, &columns, &one, factor, &order, rows,
                              &order);
}

// At most `wanted` rows a block, and as many blocks for one thread as for the other.
inline size_t balancedRows(size_t count, size_t wanted, unsigned threads) {
  const size_t blocks = (count + wanted - 1) / wanted;
  const size_t balanced = (blocks + threads - 1) / threads * threads;
  return balanced == 0 ? 1 : (count + balanced - 1) / balanced;
}

// Threads that have work on `count` rows, each a product with a triangle of n: a few are done before another has come.
inline unsigned usefulThreads(size_t count, size_t n, unsigned threads) {
  constexpr size_t leastWork = 1 << 17;
  return static_cast<unsigned>(std::clamp<size_t>(count * n * n / leastWork, 1, threads));
}

// Rows of a block that keeps BLAS at its speed and, where it can, the block in the cache; at least one block a thread.
inline size_t rowsPerBlock(size_t count, size_t n, unsigned threads) {
  return balancedRows(count, n > 400 ? 1024 : n > 32 ? 512 : 16384 / (n + 1) + 1, threads);
}

// The same for our own products, which copy the factor into panels for each block: rows in the second cache, and more
// where the factor is large. A thread keeps them, 16 MB at most unless 96 rows are more.
template <typename T>
size_t cachedRows(size_t count, size_t n, unsigned threads) {
  const auto rowsOf = [&](size_t sizeBytes) { return sizeBytes / (n * sizeof(T)); };
  return balancedRows(count, std::max({size_t(96), std::min(n / 8, rowsOf(1 << 24)), rowsOf(1 << 19)}), threads);
}

// Calls body(first row, rows, thread) for blocks of rows, on all threads.
template <typename Body>
void forRowBlocks(const Execution& execution, size_t count, size_t rows, const Body& body) {
  if (count == 0) return;
  execution.pool.run((count + rows - 1) / rows, [&](size_t block, unsigned thread) {
    execution.stopIfCancelled();
    const size_t first = block * rows;
    body(first, count - first < rows ? count - first : rows, thread);
  });
}

}  // namespace covarium::cpu
