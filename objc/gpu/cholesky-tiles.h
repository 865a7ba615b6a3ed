// The steps of a blocked Cholesky factorization by the kernels of msl/cholesky-tiles.metal.
#pragma once

#include <string>

#include "params.h"

namespace covarium::gpu {

// Calls launch(kernel, first column, threadgroups) in order, and behind(rows left) after each block of columns.
template <typename Launch, typename Behind>
void forCholeskyTiles(size_t n, const Launch& launch, const Behind& behind) {
  launch("cholesky_update", uint{0}, size_t{1});
  for (size_t first = 0; first < n; first += tile_side) {
    const size_t below = n - first <= tile_side ? 0 : n - first - tile_side;
    if (below != 0) {
      launch("cholesky_below", static_cast<uint>(first), size_t{tile_groups(below, 1)});
      launch("cholesky_update", static_cast<uint>(first + tile_side), tile_groups(below, below));
    }
    behind(below);
  }
}

// Throws ERR_NOT_POSITIVE_DEFINITE with the pivot that the kernels have found bad, if any.
inline void refuseFailed(uint failed) {
  if (failed != cholesky_good)
    throw Failure::atPivot(static_cast<int64_t>(failed),
                           "Matrix is not positive definite: pivot (" + std::to_string(failed) + ") is not positive.");
}

}  // namespace covarium::gpu
