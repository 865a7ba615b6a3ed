#include "density.h"

#include <algorithm>
#include <cstring>

#include "../gpu/params.h"

namespace covarium::cuda {

using namespace gpu;

namespace {

constexpr size_t lanes = 128;
constexpr size_t densitiesPerLaunch = size_t{1} << 21;  // so that a cancelled commit soon stops

std::string named(const char* kernel, Dtype dtype) {
  return kernel + std::string(dtype == Dtype::float64 ? "_float64" : "");
}

size_t groupsOf(size_t threads) { return (threads + lanes - 1) / lanes; }

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

void logDensity(Run& run, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                double constant, Dtype dtype) {
  const size_t floats = bytesOf(dtype) / sizeof(float);
  const uint columns = static_cast<uint>(n), inverted = inverse ? 1u : 0u;
  for (size_t first = 0; first < count; first += densitiesPerLaunch) {
    const size_t here = std::min(densitiesPerLaunch, count - first);
    const auto launch = [&](auto params) {
      run.launch(named("log_density_rows", dtype).c_str(),
                 {run.address(factor), run.address(mean), run.address(rows, first * n * floats),
                  run.slice(out, first * floats, here * floats)},
                 params, groupsOf(here), lanes);
    };
    const uint some = static_cast<uint>(here);
    if (dtype == Dtype::float64)
      launch(LogDensityParamsFloat64{some, columns, inverted, 0, constant});
    else
      launch(LogDensityParams{some, columns, inverted, static_cast<float>(constant)});
    run.made(out, first * floats, here * floats);
  }
}

void logDensityBatch(Run& run, View factors, View means, View rows, View out, size_t count, size_t n, size_t each,
                     bool shared, const std::vector<double>& constants, Dtype dtype) {
  const size_t floats = bytesOf(dtype) / sizeof(float), atOnce = std::max<size_t>(1, densitiesPerLaunch / each);
  const DevicePointer logAtMeans = run.scratch(count * floats);
  run.upload(logAtMeans, dtype == Dtype::float64 ? bytesOfAll<double>(constants) : bytesOfAll<float>(constants));
  for (size_t b = 0; b < count; b += atOnce) {
    const size_t models = std::min(atOnce, count - b), at = b * each * floats, made = models * each * floats;
    run.launch(named("log_density_batch", dtype).c_str(),
               {run.address(factors, b * n * n * floats), run.address(means, b * n * floats),
                run.address(rows, shared ? 0 : at * n), logAtMeans + b * bytesOf(dtype), run.slice(out, at, made)},
               LogDensityBatchParams{static_cast<uint>(models), static_cast<uint>(each), static_cast<uint>(n),
                                     shared ? 1u : 0u},
               groupsOf(models * each), lanes);
    run.made(out, at, made);
  }
}

void requireFinite(Run& run, View a, size_t count, Dtype dtype, std::function<void()> refuse) {
  constexpr size_t most = size_t{1} << 30;
  const DevicePointer found = run.scratch(1);
  run.upload(found, std::vector<char>(sizeof(uint32_t), 0));
  const size_t floats = bytesOf(dtype) / sizeof(float);
  for (size_t first = 0; first < count; first += most)
    run.launch(named("find_not_finite", dtype).c_str(), {run.address(a, first * floats), found},
               MatrixParams{static_cast<uint>(std::min(most, count - first)), 1}, groupsOf(finite_threads), lanes);
  run.afterwards(found, [refuse = std::move(refuse)](uint32_t isFound) {
    if (isFound != 0) refuse();
  });
}

}  // namespace covarium::cuda
