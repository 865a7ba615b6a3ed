// The kernels of msl/ that the CUDA device runs, each with its threads' places. embed.mjs makes PTX of this text.
#include <metal_stdlib>

#include "dialect.h"
#include "normal-float64.h"
#include "normal.h"
#include "radial-scale.h"

namespace msl {
#include "batch.metal"
#include "cholesky-tiles.metal"
#include "densities.metal"
#include "normal.metal"
#include "product-tiles.metal"
#include "row.metal"
#include "sample-narrow.metal"
#include "sample-tiles.metal"
#include "solve-tiles.metal"
#include "float64.inc"
#include "reduce.inc"
#include "stretch.inc"
}  // namespace msl

#include "entries.h"

KERNEL(fill_normal, (float* out, msl::NormalParams params), out, params, GROUP* LANES + LANE)
CROWDED_KERNEL(128, 6, sample_narrow, (const float* factor, const float* mean, float* out, msl::SampleParams params),
               factor, mean, out, params, groupMemory, GROUP, LANE, LANES)
CROWDED_KERNEL(128, 4, sample_narrow_float64,
               (const double* factor, const double* mean, double* out, msl::SampleParams params), factor, mean, out,
               params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
CROWDED_KERNEL(256, 2, sample_tiles,
               (const float* factor, const float* mean, const float* z, float* out, msl::SampleTileParams params),
               factor, mean, z, out, params, groupMemory, GROUP, LANE, LANES)
KERNEL(sample_batch, (const float* factors, const float* means, float* out, msl::SampleBatchParams params), factors,
       means, out, params, groupMemory, GROUP, LANE, LANES)
KERNEL(sample_batch_float64, (const double* factors, const double* means, double* out, msl::SampleBatchParams params),
       factors, means, out, params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(product_tiles, (const float* a, const float* b, float* c, msl::ProductParams params), a, b, c, params,
       groupMemory, GROUP, LANE, LANES)
KERNEL(product_tiles_float64, (const double* a, const double* b, double* c, msl::ProductParamsFloat64 params), a, b, c,
       params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(fill_normal_float64, (double* out, msl::NormalParams params), out, params, GROUP* LANES + LANE)
KERNEL(sample_tiles_float64,
       (const double* factor, const double* mean, const double* z, double* out, msl::SampleTileParams params), factor,
       mean, z, out, params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(cholesky_below, (float* a, const uint* failed, msl::CholeskyTileParams params), a, failed, params, groupMemory,
       GROUP, LANE, LANES)
KERNEL(cholesky_below_float64, (double* a, const uint* failed, msl::CholeskyTileParams params), a, failed, params,
       reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(cholesky_update, (float* a, uint* failed, msl::CholeskyTileParams params), a, failed, params, groupMemory, GROUP,
       LANE, LANES)
KERNEL(cholesky_update_float64, (double* a, uint* failed, msl::CholeskyTileParams params), a, failed, params,
       reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
CROWDED_KERNEL(64, 28, densities,
               (const float* factors, const float* means, const float* rows, const float* logAtMeans, float* out,
                msl::DensitiesParams params),
               factors, means, rows, logAtMeans, out, params, groupMemory, GROUP, LANE, LANES)
KERNEL(densities_float64,
       (const double* factors, const double* means, const double* rows, const double* logAtMeans, double* out,
        msl::DensitiesParams params),
       factors, means, rows, logAtMeans, out, params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(densities_by_columns,
       (const float* factors, const float* means, const float* rows, const float* logAtMeans, float* out,
        msl::DensitiesParams params),
       factors, means, rows, logAtMeans, out, params, groupMemory, GROUP, LANE, LANES)
KERNEL(densities_by_columns_float64,
       (const double* factors, const double* means, const double* rows, const double* logAtMeans, double* out,
        msl::DensitiesParams params),
       factors, means, rows, logAtMeans, out, params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(find_not_finite, (const float* a, uint* found, msl::MatrixParams params), a, found, params, GROUP* LANES + LANE)
KERNEL(find_not_finite_float64, (const double* a, uint* found, msl::MatrixParams params), a, found, params,
       GROUP* LANES + LANE)
KERNEL(add_moments, (const float* rows, const double* centre, double* partial, msl::MomentsParams params), rows, centre,
       partial, params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(add_moments_float64, (const double* rows, const double* centre, double* partial, msl::MomentsParams params),
       rows, centre, partial, params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(add_segments, (const double* partial, double* sums, double* products, msl::MomentsParams params), partial, sums,
       products, params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(less_centre, (const float* rows, const double* centre, double* to, msl::MatrixParams params), rows, centre, to,
       params, GROUP* LANES + LANE)
KERNEL(less_centre_float64, (const double* rows, const double* centre, double* to, msl::MatrixParams params), rows,
       centre, to, params, GROUP* LANES + LANE)
KERNEL(add_lower, (const double* sums, double* products, msl::MatrixParams params), sums, products, params,
       GROUP* LANES + LANE)
KERNEL(count_between, (const float* rows, const float* limits, float* kept, uint* counts, msl::BetweenParams params),
       rows, limits, kept, counts, params, GROUP* LANES + LANE)
KERNEL(count_between_float64,
       (const double* rows, const double* limits, double* kept, uint* counts, msl::BetweenParams params), rows, limits,
       kept, counts, params, GROUP* LANES + LANE)
KERNEL(solve_tiles,
       (const float* factor, const float* mean, const float* rows, float* work, float* out,
        msl::SolveTileParams params),
       factor, mean, rows, work, out, params, groupMemory, GROUP, LANE, LANES)
KERNEL(solve_tiles_float64,
       (const double* factor, const double* mean, const double* rows, double* work, double* out,
        msl::SolveTileParams params),
       factor, mean, rows, work, out, params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(antitransposed, (const float* from, float* to, msl::MatrixParams params), from, to, params, GROUP* LANES + LANE)
KERNEL(antitransposed_float64, (const double* from, double* to, msl::MatrixParams params), from, to, params,
       GROUP* LANES + LANE)
KERNEL(finish_lq, (float* a, float* q, msl::LqParams params), a, q, params, GROUP, LANE, LANES)
KERNEL(finish_lq_float64, (double* a, double* q, msl::LqParams params), a, q, params, GROUP, LANE, LANES)
KERNEL(widened, (const float* from, double* to, msl::MatrixParams params), from, to, params, GROUP* LANES + LANE)
KERNEL(narrowed, (const double* from, float* to, msl::MatrixParams params), from, to, params, GROUP* LANES + LANE)
KERNEL(transposed_float64, (const double* from, double* to, msl::MatrixParams params), from, to, params,
       GROUP* LANES + LANE)
KERNEL(less_mean, (const float* rows, const float* mean, float* to, msl::MatrixParams params), rows, mean, to, params,
       GROUP* LANES + LANE)
KERNEL(less_mean_float64, (const double* rows, const double* mean, double* to, msl::MatrixParams params), rows, mean,
       to, params, GROUP* LANES + LANE)
KERNEL(norm_densities, (const float* rows, const float* logAtMean, float* out, msl::MatrixParams params), rows,
       logAtMean, out, params, groupMemory, GROUP, LANE, LANES)
KERNEL(norm_densities_float64, (const double* rows, const double* logAtMean, double* out, msl::MatrixParams params),
       rows, logAtMean, out, params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(stretch_rows, (float* rows, const double* locations, msl::StretchParams params), rows, locations, params,
       reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(stretch_rows_float64, (double* rows, const double* locations, msl::StretchParams params), rows, locations,
       params, reinterpret_cast<double*>(groupMemory), GROUP, LANE, LANES)
KERNEL(select_ranks, (const float* kept, const uint* lengths, const uint* ranks, float* out, msl::SelectParams params),
       kept, lengths, ranks, out, params, reinterpret_cast<uint*>(groupMemory), GROUP, LANE, LANES)
KERNEL(select_ranks_float64,
       (const double* kept, const uint* lengths, const uint* ranks, double* out, msl::SelectParams params), kept,
       lengths, ranks, out, params, reinterpret_cast<uint*>(groupMemory), GROUP, LANE, LANES)
