// Decompositions by LAPACK on the calling thread, and by our own code (blocked.h, simd/lu.inc). Row-major throughout:
// to LAPACK, which is column-major, a row-major matrix is its transpose, so that no matrix is transposed here to suit
// it. lib/backend.ts says what each one does.
#pragma once

#include "execution.h"

namespace covarium::cpu {

template <typename T>
void transpose(const Execution& execution, const T* from, T* to, size_t rows, size_t columns);
template <typename T>
void symmetricEigen(const Execution& execution, T* a, T* values, size_t n, bool vectors);
template <typename T>
void echelon(const Execution& execution, T* rows, T* pivots, size_t m, size_t n, double tolerance);
// `q` may be null.
template <typename T>
void lq(const Execution& execution, T* a, T* q, size_t m, size_t n);
// `u` and `v` may both be null; only `u`, if the matrix is graded.
template <typename T>
void svd(const Execution& execution, T* a, T* u, T* values, T* v, size_t m, size_t n, bool graded);
template <typename T>
void pivotedCholesky(const Execution& execution, T* a, T* order, size_t n, double tolerance);
template <typename T>
void lu(const Execution& execution, T* a, T* pivots, size_t n);
template <typename T>
void luSolve(const Execution& execution, const T* lu, const T* pivots, T* rows, size_t count, size_t n);

}  // namespace covarium::cpu
