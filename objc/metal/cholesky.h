#pragma once

#include <string>

#include "encoding.h"

namespace covarium::metal {

// Makes the lower Cholesky factor of a (n x n) in place, with zeros above the diagonal. From 512 columns on our own
// kernels make it, with the CPU's bits; below, MPSMatrixDecompositionCholesky does. If one of the two is off, the
// other takes its place. If a pivot is not positive, the commit fails and names it; MPS does not name it, so the CPU
// finds it in a copy of a.
void cholesky(Encoding& encoding, View a, size_t n);

// Whether our own kernels make factors of n columns; without n, whether they make any.
bool makesByTiles(const Gpu& gpu, size_t n = SIZE_MAX);

// Why this GPU cannot make a factor of n columns; empty if it can.
std::string lacksCholesky(const Gpu& gpu, size_t n);

}  // namespace covarium::metal
