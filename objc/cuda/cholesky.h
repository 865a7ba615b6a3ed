#pragma once

#include "part.h"

namespace covarium::cuda {

// The lower factor of a (n x n) in place, with the bits of the CPU; fails the part with the pivot that is not positive.
void cholesky(Run& run, View a, size_t n, Dtype dtype);

}  // namespace covarium::cuda
