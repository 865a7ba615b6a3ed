#pragma once

#include <string>

#include "encoding.h"

namespace covarium::metal {

// The lower Cholesky factor of a (n x n) in place, zeros above the diagonal: from 512 columns on by our own kernels,
// with the CPU's bits; below, by MPSMatrixDecompositionCholesky. Each takes the other's place where that is off. Where
// a pivot is not positive the commit fails with it: MPS names none, and the CPU finds it in a copy of a.
void cholesky(Encoding& encoding, View a, size_t n);

// Why this GPU makes no factor of n columns; empty where it does.
std::string lacksCholesky(const Gpu& gpu, size_t n);

}  // namespace covarium::metal
