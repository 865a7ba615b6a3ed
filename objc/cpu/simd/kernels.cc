// Built once for each instruction set, with COVARIUM_TABLE naming the function that gives the table. All of it is in an
// anonymous namespace: an inline function must not leak from the AVX-512 build into the AVX2 one.
#include "kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "normal-float64.h"
#include "normal-quantile.h"
#include "radial-scale.h"
#include "threadgroup.h"

namespace covarium::cpu {
namespace {

#include <metal_stdlib>

#include "lanes-float64.h"
#include "lanes.h"
#include "batch.metal"
#include "log-density.metal"
#include "multiply-lower.metal"
#include "normal.metal"
#include "row.metal"
#include "sample.metal"
#include "triangle.metal"

// Kernels that the CPU replaces by code of its own: the stand-in for Apple's GPUs runs them (test/metal/softmetal).
#ifdef COVARIUM_GPU_KERNELS
#include "cholesky-tiles.metal"
#include "densities.metal"
#include "sample-narrow.metal"
#include "sample-tiles.metal"
#include "solve-tiles.metal"
#endif

#include "adapters.inc"
#include "vector.inc"
#include "fill-normal.inc"
#include "stretch-rows.inc"
#include "narrow.inc"
#include "rows.inc"
#include "solve.inc"
#include "product.inc"
#include "jacobi.inc"
#include "reflections.inc"
#include "lu.inc"
#include "batch.inc"
#include "checks.inc"
#include "normal-quantile.inc"

size_t simdgroupValuesBytes(const void*, uint32_t lanes, uint32_t simdWidth) {
  return simdgroup_values_bytes(lanes, simdWidth);
}

size_t multiplyLowerBytes(const void*, uint32_t lanes, uint32_t simdWidth) {
  return multiply_lower_bytes(lanes, simdWidth);
}

size_t sampleRowsBytes(const void* params, uint32_t, uint32_t) {
  SampleParams sample;
  memcpy(&sample, params, sizeof sample);
  return sample_rows_bytes(sample.columns, sample.rowsPerGroup, sample.inverse);
}

size_t sampleBatchBytes(const void* params, uint32_t, uint32_t) {
  SampleBatchParams sample;
  memcpy(&sample, params, sizeof sample);
  return sample_rows_bytes(sample.columns, sample.rowsPerGroup, 0);
}

size_t choleskyBatchBytes(const void* params, uint32_t, uint32_t) {
  CholeskyBatchParams batch;
  memcpy(&batch, params, sizeof batch);
  return cholesky_batch_bytes(batch.columns, batch.modelsPerGroup);
}

#ifdef COVARIUM_GPU_KERNELS
size_t sampleNarrowBytes(const void* params, uint32_t, uint32_t) {
  SampleParams sample;
  memcpy(&sample, params, sizeof sample);
  return sample_narrow_bytes(sample.columns);
}

size_t densitiesBytes(const void* params, uint32_t lanes, uint32_t) {
  DensitiesParams of;
  memcpy(&of, params, sizeof of);
  return sizeof(float) * densities_elements(of.columns, lanes);
}

size_t tileBytes(const void*, uint32_t, uint32_t) { return tile_bytes(); }
#endif

const Kernel kernelList[] = {
    map<fill_normal>("fill_normal"),
    map<add_row>("add_row"),
    map<scale_columns>("scale_columns"),
    map<zero_upper>("zero_upper"),
    map<copy_lower>("copy_lower"),
    map<antitranspose>("antitranspose"),
    reduction<squared_norms>("squared_norms", simdgroupValuesBytes),
    reduction<log_density>("log_density", simdgroupValuesBytes),
    reduction<multiply_lower>("multiply_lower", multiplyLowerBytes),
    reduction<sample_rows>("sample_rows", sampleRowsBytes),
    reduction<sample_batch>("sample_batch", sampleBatchBytes),
    reduction<cholesky_batch>("cholesky_batch", choleskyBatchBytes),
    reduction<keep_first_failed>("keep_first_failed", simdgroupValuesBytes),
#ifdef COVARIUM_GPU_KERNELS
    reduction<sample_narrow>("sample_narrow", sampleNarrowBytes),
    reduction<densities>("densities", densitiesBytes),
    reduction<densities_by_columns>("densities_by_columns", densitiesBytes),
    reduction<sample_tiles>("sample_tiles", tileBytes),
    reduction<solve_tiles>("solve_tiles", tileBytes),
    reduction<cholesky_below>("cholesky_below", tileBytes),
    reduction<cholesky_update>("cholesky_update", tileBytes),
    map<less_mean>("less_mean"),
#endif
};

template <typename T>
void antitransposeAll(T* a, size_t n) {
  for (uint i = 0; i < n; ++i)
    for (uint j = 0; j < n; ++j) swap_across_antidiagonal(a, static_cast<uint>(n), uint2{j, i});
}

template <typename T>
constexpr RealKernels<T> realKernels() {
  // clang-format off
  return {fillNormal,
          addRow<T>,
          addDifferences<T>,
          centreRows<T>,
          scaleColumns<T>,
          squaredNorms<T>,
          distances<T>,
          orthogonalizeRows<T>,
          factorRows<T>,
          antitransposeAll<T>,
          transposeRows<T>,
          multiplyOnto<T>,
          multiplyColumns<T>,
          tileRows<T>,
          packedLength<T>,
          packLower<T>,
          multiplyPacked<T>,
          matrixVector<T>,
          streamLimit,
          narrowLimit<T>,
          narrowTableLength<T>,
          narrowTable<T>,
          streamedProduct<T>,
          narrowProduct<T>,
          solveLimit,
          solveRows<T>,
          logDensities<T>,
          fewRows,
          solveFewRows<T>,
          surelySymmetric<T>,
          areBetween<T>,
          abreastLimit,
          lanesOf<T>,
          abreastScratch<T>,
          factorOne<T>,
          factorAbreast<T>,
          sampleAbreast<T>,
          squaredDistancesAbreast<T>,
          stretchRows<T>,
          countBetween<T>,
          factorLu<T>,
          ownProducts<T>()};
  // clang-format on
}

}  // namespace

const KernelTable& COVARIUM_TABLE() {
  static const KernelTable table = {
#if defined(__AVX512F__)
      "AVX-512",
#elif defined(__AVX2__)
      "AVX2",
#elif defined(__aarch64__)
      "NEON",
#else
      "baseline",
#endif
      kernelList, sizeof kernelList / sizeof *kernelList, realKernels<float>(), realKernels<double>(), normalQuantiles};
  return table;
}

}  // namespace covarium::cpu
