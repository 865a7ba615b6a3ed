#pragma once

#include "encoding.h"

namespace covarium::metal {

// The lower Cholesky factor of a (n x n) in place by MPSMatrixDecompositionCholesky, zeros above the diagonal. Where
// MPS answers anything but success, or a pivot that is no positive number, the commit fails with the pivot that the CPU
// finds in a copy of a.
void cholesky(Encoding& encoding, View a, size_t n);

}  // namespace covarium::metal
