#include "density.h"

#include <algorithm>
#include <cstring>

#include "solve.h"

namespace covarium::cuda {

using namespace gpu;

namespace {

// The most of one launch, so that a cancelled commit soon stops.
constexpr size_t densitiesPerLaunch = size_t{1} << 21, mostModels = 1 << 18;
// Threadgroup memory that every GPU gives without being asked for more.
constexpr size_t groupBytes = 48 << 10;

template <typename Real>
std::vector<char> bytesOfAll(const std::vector<double>& numbers) {
  std::vector<char> bytes(numbers.size() * sizeof(Real));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<Real>(numbers[i]);
    memcpy(&bytes[i * sizeof number], &number, sizeof number);
  }
  return bytes;
}

}  // namespace

void densities(Run& run, View factors, View means, View rows, View out, const Densities& shape,
               const std::vector<double>& constants, Dtype dtype) {
  const auto [count, n, each, shared, inverse] = shape;
  const size_t floats = bytesOf(dtype) / sizeof(float);
  const auto bytes = [&](size_t lanes) {
    return bytesOf(dtype) * densities_elements(static_cast<uint>(n), static_cast<uint>(lanes));
  };
  // Half of the lanes would wait if a model has few rows; and in float64, from 61 columns on, three quarters have room.
  const size_t fewer = each <= densities_lanes / 2 ? densities_lanes / 2 : densities_lanes * 3 / 4;
  const size_t lanes = each <= fewer || bytes(densities_lanes) > groupBytes ? fewer : size_t{densities_lanes};
  const DevicePointer logAtMeans = run.scratch(count * floats);
  run.upload(logAtMeans, dtype == Dtype::float64 ? bytesOfAll<double>(constants) : bytesOfAll<float>(constants));
  const auto launch = [&](size_t b, size_t models, size_t first, size_t many) {
    const size_t at = (b * each + first) * floats, from = shared ? first * floats : at;
    const uint perGroup = densitiesRowsPerGroup(models, many, n);
    run.launch(
        kernelFor(densitiesKernel(n), dtype),
        {run.address(factors, b * n * n * floats), run.address(means, b * n * floats), run.address(rows, from * n),
         logAtMeans + b * bytesOf(dtype), run.slice(out, at, models * many * floats)},
        DensitiesParams{static_cast<uint>(models), static_cast<uint>(many), static_cast<uint>(n), shared ? 1u : 0u,
                        inverse ? 1u : 0u, perGroup},
        models * groupsOf(many, perGroup), lanes, bytes(lanes));
    run.made(out, at, models * many * floats);
  };
  if (each > densitiesPerLaunch) {
    for (size_t b = 0; b < count; ++b)
      forSlices(each, densitiesPerLaunch, [&](size_t first, size_t many) { launch(b, 1, first, many); });
    return;
  }
  const size_t atOnce = std::min(densitiesPerLaunch / each, mostModels);
  forSlices(count, atOnce, [&](size_t b, size_t models) { launch(b, models, 0, each); });
}

void wideDensities(Run& run, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                   double constant, Dtype dtype) {
  const size_t floats = bytesOf(dtype) / sizeof(float), blockRows = tiledRows(count, n);
  const DevicePointer logAtMean = run.scratch(floats), white = run.scratch(blockRows * n * floats);
  run.upload(logAtMean, dtype == Dtype::float64 ? bytesOfAll<double>({constant}) : bytesOfAll<float>({constant}));
  DevicePointer centred = 0, none = 0;
  if (inverse) {
    centred = run.scratch(blockRows * n * floats);
    none = run.scratch(n * floats);
    run.upload(none, std::vector<char>(n * bytesOf(dtype)));
  }
  forSlices(count, blockRows, [&](size_t first, size_t here) {
    const MatrixParams params = matrixParams(here, n);
    const DevicePointer block = run.address(rows, first * n * floats), own = run.address(factor);
    if (inverse) {
      run.launchThreads(kernelFor("less_mean", dtype), {block, run.address(mean), centred}, params, here * n);
      multiplyTiles(run, own, none, centred, white, here, n, dtype);
    } else {
      solveTiles(run, {own, run.address(mean), block, white, white}, here, n, solve_less_mean, dtype);
    }
    run.launch(kernelFor("norm_densities", dtype), {white, logAtMean, run.slice(out, first * floats, here * floats)},
               params, groupsOf(here, norms_rows), norms_lanes, norms_lanes * bytesOf(dtype));
    run.made(out, first * floats, here * floats);
  });
}

void requireFinite(Run& run, View a, size_t count, Dtype dtype, std::function<void()> refuse) {
  constexpr size_t most = size_t{1} << 30;
  const DevicePointer found = run.scratch(1);
  run.upload(found, std::vector<char>(sizeof(uint32_t), 0));
  const size_t floats = bytesOf(dtype) / sizeof(float);
  forSlices(count, most, [&](size_t first, size_t here) {
    run.launchThreads(kernelFor("find_not_finite", dtype), {run.address(a, first * floats), found},
                      matrixParams(here, 1), finite_threads);
  });
  run.afterwards(found, [refuse = std::move(refuse)](uint32_t isFound) {
    if (isFound != 0) refuse();
  });
}

}  // namespace covarium::cuda
