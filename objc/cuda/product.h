#pragma once

#include "part.h"

namespace covarium::cuda {

// Products whose shape the kernel counts in 32 bits.
bool isCountable(const ProductShape& shape);

// By tiles of msl/product-tiles.metal, in `dtype`.
void product(Run& run, View a, View b, View c, const ProductShape& shape, Dtype dtype);

}  // namespace covarium::cuda
