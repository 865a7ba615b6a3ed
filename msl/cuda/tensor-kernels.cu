// Kernels of kernels.cu on tensor cores, under the same names. embed.mjs makes PTX of this text, too.
#include <metal_stdlib>

#include "dialect.h"

namespace msl {
#include "tensor-cores.h"
// What uses it:
#include "cholesky-tiles.metal"
#include "product-tiles.metal"
#include "sample-tiles.metal"
#include "solve-tiles.metal"
}  // namespace msl

#include "entries.h"

// With 64 sums in registers, a multiprocessor has room for one group.
#define TILE_KERNEL(name, tile, parameters, ...)                                                                       \
  extern "C" __attribute__((__global__)) __attribute__((launch_bounds(256, 1))) void name parameters {                 \
    if (LANES == msl::tile_lanes) msl::tile(__VA_ARGS__, params, reinterpret_cast<double*>(groupMemory), GROUP, LANE); \
  }

TILE_KERNEL(product_tiles_float64, product_tile<double>,
            (const double* a, const double* b, double* c, msl::ProductParamsFloat64 params), a, b, c)
TILE_KERNEL(sample_tiles_float64, sample_tile<double>,
            (const double* factor, const double* mean, const double* z, double* out, msl::SampleTileParams params),
            factor, mean, z, out)
TILE_KERNEL(solve_tiles_float64, solve_row_tile<double>,
            (const double* factor, const double* mean, const double* rows, double* work, double* out,
             msl::SolveTileParams params),
            factor, mean, rows, work, out)
TILE_KERNEL(cholesky_below_float64, solve_below<double>,
            (double* a, const uint* failed, msl::CholeskyTileParams params), a, failed)
TILE_KERNEL(cholesky_update_float64, update_tile<double>, (double* a, uint* failed, msl::CholeskyTileParams params), a,
            failed)
