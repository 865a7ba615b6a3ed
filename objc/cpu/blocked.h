// Decompositions of matrices that are large enough for several threads. LAPACK runs on one thread of ours: it factors
// narrow panels, and our threads share the products, which are most of the work. OpenBLAS's own threads stay off: a
// child process that Node forks while they work deadlocks both (its handler of fork joins them), each takes 128 MiB
// of addresses, and results would depend on their number. Matrices are column-major, as in LAPACK.
#pragma once

#include <cmath>
#include <limits>

#include "reflections.h"

namespace covarium::cpu {

// True if threads or our products may gain. It must not depend on how many threads there are, because the bits would
// too.
inline bool isBlocked(const Execution& execution, size_t columns) {
  constexpr size_t least = 192;
  return columns >= least && !execution.blas.hasMatrixUnit;
}

// The factor by which entries up to `largest` are multiplied before their squares are summed: the squares of larger
// numbers would overflow, those of smaller ones would vanish (as in syevd and gesdd).
template <typename T>
double scaleFor(double largest) {
  const double least = std::sqrt(static_cast<double>(std::numeric_limits<T>::min()) /
                                 static_cast<double>(std::numeric_limits<T>::epsilon() / 2));
  return largest > 0 ? std::min(std::max(largest, least), 1 / least) / largest : 1;
}

// geqrf of `length` x `columns` with the reflections ready.
template <typename T>
void factorColumns(const Execution& execution, T* a, size_t stride, size_t length, size_t columns,
                   Reflections<T>& reflections);
// syevd: the upper triangle of a (n x n) becomes its vectors.
template <typename T>
void blockedEigen(const Execution& execution, T* a, T* values, size_t n);
// gesdd of n x n: a = u diag(values) vt. a is lost.
template <typename T>
void blockedSvd(const Execution& execution, T* a, T* u, T* values, T* vt, size_t n);
// RealKernels::factorLu of n x n.
template <typename T>
void blockedLu(const Execution& execution, T* a, int* swaps, size_t n);
// Rows x <- y with a y = x, for the triangles of a.
template <typename T>
void blockedLuSolve(const Execution& execution, const T* lu, const int* swaps, T* x, size_t count, size_t n);

}  // namespace covarium::cpu
