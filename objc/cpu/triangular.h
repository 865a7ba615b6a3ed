// Products and solves on row-major matrices by BLAS, which is column-major: there a row-major matrix is its transpose,
// and rows x of a row-major matrix are columns.
#pragma once

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
void multiplyRows(const Blas& blas, const T* factor, T* rows, size_t count, size_t n, bool transposed) {
  const int order = blasInt(n), columns = blasInt(count);
  const T one = 1;
  blas.of<T>().trmm("L", "U", transposed ? "N" : "T", "N", &order, &columns, &one, factor, &order, rows, &order);
}

// Rows x <- y with factor y = x, or factor' y = x. On the calling thread.
template <typename T>
void solveRows(const Blas& blas, const T* factor, T* rows, size_t count, size_t n, bool transposed) {
  const int order = blasInt(n), columns = blasInt(count);
  const T one = 1;
  blas.of<T>().trsm("L", "U", transposed ? "N" : "T", "N", &order, &columns, &one, factor, &order, rows, &order);
}

// Rows of a block that keeps BLAS at its speed and, where it can, the block in the cache; at least one block a thread.
inline size_t rowsPerBlock(size_t count, size_t n, unsigned threads) {
  const size_t wanted = n > 400 ? 1024 : n > 32 ? 512 : 16384 / (n + 1) + 1;
  const size_t blocks = (count + wanted - 1) / wanted;
  const size_t balanced = (blocks + threads - 1) / threads * threads;
  return balanced == 0 ? 1 : (count + balanced - 1) / balanced;
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
