// The linear algebra of the stand-in, on row-major matrices. It calls objc/cpu for products, which are column-major,
// so that a row-major matrix is its transpose there.
#pragma once

#include "matrix.h"

namespace softmetal {

// c = alpha op(a) op(b) + beta c; with beta = 0, c is not read.
void multiply(const View& a, bool transposeA, const View& b, bool transposeB, const View& c, double alpha, double beta);

// Factors in place, from one triangle, which becomes the factor. Returns the index of the failing pivot, or -1.
int factor(const View& a, bool lower);

}  // namespace softmetal
