#pragma once

#include <string>

#include "../device.h"
#include "encoding.h"

namespace covarium::metal {

// Makes the lower Cholesky factor of a (n x n) in place, with zeros above the diagonal, by our own kernels, with the
// CPU's bits, or by MPSMatrixDecompositionCholesky. If a pivot is not positive, the commit fails and names it; MPS does
// not name it, so the CPU finds it in a copy of a.
void cholesky(Encoding& encoding, View a, size_t n);
void choleskyByMps(Encoding& encoding, View a, size_t n);

// Whether `auto` may choose our own kernels for n columns; without n, whether for any.
bool makesByTiles(const Gpu& gpu, size_t n = SIZE_MAX);

// Why this GPU cannot make a factor of n columns at `where`; empty if it can.
std::string lacksCholesky(const Gpu& gpu, FactorOn where, size_t n);

}  // namespace covarium::metal
