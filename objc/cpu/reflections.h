// Products of Householder reflections on all threads. LAPACK stores reflection i, 1 - tau v v', in column i, as the
// part of v behind its first number, which is 1. `width` of them are one product of matrices, 1 - V T V' (Schreiber
// and Van Loan, SIAM J. Sci. Stat. Comput. 10, 1989, 53-57). Matrices are column-major, as in LAPACK.
#pragma once

#include <algorithm>
#include <vector>

#include "triangular.h"

namespace covarium::cpu {

template <typename T>
class Reflections {
 public:
  static constexpr size_t width = 32;

  // `count` reflections of vectors of `length` numbers. Column i of `columns`, `stride` apart, holds v from row i + 1
  // on.
  Reflections(T* columns, size_t stride, size_t length, size_t count)
      : columns_(columns),
        stride_(stride),
        length_(length),
        count_(count),
        above_(count * width),
        triangles_(count * width) {}

  // Makes the block that begins at `first` ready: T, and V with its zeros and its ones. LAPACK has other numbers in
  // their place, which `restore` puts back.
  void prepare(const Execution& execution, size_t first, const T* tau) {
    const size_t wide = widthAt(first);
    T *const block = columns_ + first * stride_ + first, *const triangle = triangles_.data() + first * width;
    for (size_t j = 0; j < wide; ++j) {
      T* column = block + j * stride_;
      std::copy_n(column, j + 1, above_.data() + (first + j) * width);
      std::fill_n(column, j, T(0));
      column[j] = 1;
    }
    std::vector<T> products(wide * wide);
    multiply(execution, "T", wide, wide, length_ - first, 1, block, stride_, block, stride_, 0, products.data(), wide);
    // Column j of T is -tau T V' v above the diagonal, and tau on it.
    for (size_t j = 0; j < wide; ++j) {
      const T scale = tau[first + j];
      for (size_t i = 0; i < j; ++i) {
        T sum = 0;
        for (size_t k = i; k < j; ++k) sum += triangle[k * width + i] * products[j * wide + k];
        triangle[j * width + i] = -scale * sum;
      }
      triangle[j * width + j] = scale;
    }
  }

  void prepareAll(const Execution& execution, const T* tau) {
    execution.pool.run(blocks(), [&](size_t block, unsigned) { prepare(execution, block * width, tau); });
  }

  // Columns of c <- H c with the block's H, or H' c. On the calling thread.
  void apply(const Execution& execution, size_t first, bool transposed, T* c, size_t stride, size_t columns) const {
    const size_t wide = widthAt(first), rows = length_ - first;
    const T *const block = columns_ + first * stride_ + first, *const triangle = triangles_.data() + first * width;
    std::vector<T> parts(2 * wide * columns);
    T *const along = parts.data(), *const times = along + wide * columns;
    multiply(execution, "T", wide, columns, rows, 1, block, stride_, c + first, stride, 0, along, wide);
    multiply(execution, transposed ? "T" : "N", wide, columns, wide, 1, triangle, width, along, wide, 0, times, wide);
    multiply(execution, "N", rows, columns, wide, -1, block, stride_, times, wide, 1, c + first, stride);
  }

  // Columns of c <- Q c with the product Q of all. In an identity the columns before a block are 0 where it acts.
  // Shares have one size, so that no bit depends on the number of threads.
  void applyAll(const Execution& execution, T* c, size_t stride, size_t columns, bool isIdentity) const {
    const size_t shares = (columns + share - 1) / share;
    // The last columns of an identity take the longest.
    execution.pool.run(shares, [&](size_t before, unsigned) {
      const size_t from = (shares - 1 - before) * share, end = std::min(columns, from + share);
      for (size_t block = blocks(); block-- > 0;) {
        execution.stopIfCancelled();
        const size_t first = block * width, begin = isIdentity ? std::max(from, first) : from;
        if (begin < end) apply(execution, first, false, c + begin * stride, stride, end - begin);
      }
    });
  }

  // Puts back what stood above V.
  void restore() {
    for (size_t j = 0; j < count_; ++j) {
      const size_t first = j / width * width;
      std::copy_n(above_.data() + j * width, j - first + 1, columns_ + j * stride_ + first);
    }
  }

  // Columns that one thread takes at a time.
  static constexpr size_t share = 128;

 private:
  size_t blocks() const { return (count_ + width - 1) / width; }
  size_t widthAt(size_t first) const { return std::min(width, count_ - first); }

  // c = alpha op(a) b + beta c, m x n.
  static void multiply(const Execution& execution, const char* transposed, size_t m, size_t n, size_t k, T alpha,
                       const T* a, size_t strideA, const T* b, size_t strideB, T beta, T* c, size_t strideC) {
    const int rows = blasInt(m), columns = blasInt(n), depth = blasInt(k), lda = blasInt(strideA),
              ldb = blasInt(strideB), ldc = blasInt(strideC);
    execution.blas.of<T>().gemm(transposed, "N", &rows, &columns, &depth, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
  }

  T* const columns_;
  const size_t stride_, length_, count_;
  std::vector<T> above_, triangles_;
};

}  // namespace covarium::cpu
