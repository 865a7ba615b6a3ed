#include "sample.h"

#include <algorithm>

#include "gpu.h"
#include "../gpu/sample-params.h"
#include "rows.h"
#include "triangle.h"

namespace covarium::metal {

namespace {

constexpr size_t mostFusedGroups = size_t{1} << 20;
constexpr size_t mostRows = size_t{1} << 24, mostModels = size_t{1} << 18;  // of one dispatch of densities

// Rows of at most fusedColumns: whole, by one kernel.
void sampleFused(Encoding& encoding, View factor, View mean, View out, size_t count, size_t n, bool inverse,
                 NormalCounter counter) {
  const uint columns = static_cast<uint>(n), direction = inverse ? 1 : 0;
  const bool isNarrow = drawsNarrow(encoding.gpu(), n, inverse);
  const uint rows = isNarrow ? narrowRowsPerGroup(count, n) : sample_rows_per_group(columns, direction);
  forSlices(count, rows * mostFusedGroups, [&](size_t first, size_t here) {
    const size_t groups = groupsOf(here, rows);
    const SampleParams params = sampleParams(after(counter, uint64_t{first} * n), here, n, rows, inverse);
    const std::initializer_list<View> views = {factor, mean, out.from(first * n)};
    if (isNarrow) {
      encoding.dispatchWholeGroups("sample_narrow", views, params, groups, sample_narrow_lanes,
                                   sample_narrow_bytes(columns));
    } else {
      encoding.dispatchGroups("sample_rows", views, params, groups, sample_rows_lanes(direction),
                              [&](uint, uint) { return sample_rows_bytes(columns, rows, direction); });
    }
    encoding.worked(secondsFor(here * n * (60.0 + n), 4.0 * here * n));
  });
}

}  // namespace

bool drawsNarrow(const Gpu& gpu, size_t n, bool inverse) {
  return !inverse && n <= sample_narrow_most &&
         sample_narrow_bytes(static_cast<uint>(n)) <= [gpu.device() maxThreadgroupMemoryLength] &&
         gpu.works({"sample_narrow"});
}

void sample(Encoding& encoding, View factor, View mean, View out, size_t count, size_t n, bool inverse,
            NormalCounter counter) {
  const bool isFused = n <= fusedColumns && encoding.gpu().works({"sample_rows"});
  if (isFused || drawsNarrow(encoding.gpu(), n, inverse)) {
    sampleFused(encoding, factor, mean, out, count, n, inverse, counter);
    return;
  }
  const View normals = encoding.scratch(std::min(count, rowsPerBlock(n)) * n);
  if (!inverse && count <= fewRows && encoding.gpu().works({"multiply_lower"})) {
    fillNormal(encoding, normals, count * n, counter);
    multiplyFewRows(encoding, factor, mean, normals, out, count, n);
    return;
  }
  forSlices(count, rowsPerBlock(n), [&](size_t first, size_t here) {
    const View rows = out.from(first * n);
    fillNormal(encoding, normals, here * n, after(counter, uint64_t{first} * n));
    if (inverse) {
      solveRows(encoding, factor, mean, Mean::isAdded, normals, rows, here, n);
    } else {
      multiplyRows(encoding, factor, mean, normals, rows, here, n);
    }
  });
}

void densities(Encoding& encoding, View factors, View means, View rows, View out, const Densities& shape,
               const double* constants) {
  const size_t count = shape.count, n = shape.n, each = shape.each;
  const View logAtMeans = encoding.readable(count);
  std::transform(constants, constants + count, static_cast<float*>(logAtMeans.buffer->contents()),
                 [](double constant) { return static_cast<float>(constant); });
  const auto dispatch = [&, columns = static_cast<uint>(n)](size_t b, size_t models, size_t first, size_t many) {
    const uint perGroup = densitiesRowsPerGroup(models, many, n);
    const DensitiesParams params = {static_cast<uint>(models), static_cast<uint>(many), columns,
                                    shape.shared ? 1u : 0u,    shape.inverse ? 1u : 0u, perGroup};
    encoding.dispatchGroups(
        densitiesKernel(n),
        {factors.from(b * n * n), means.from(b * n), rows.from((shape.shared ? first : b * each + first) * n),
         logAtMeans.from(b), out.from(b * each + first)},
        params, models * groupsOf(many, perGroup), std::min<size_t>(many, densities_lanes),
        [&](uint lanes, uint) { return sizeof(float) * densities_elements(columns, lanes); });
    encoding.worked(secondsFor(1.0 * models * many * n * n, 4.0 * models * n * (many + n)));
  };
  if (each > mostRows) {
    for (size_t b = 0; b < count; ++b)
      forSlices(each, mostRows, [&](size_t first, size_t many) { dispatch(b, 1, first, many); });
    return;
  }
  forSlices(count, std::min(mostRows / each, mostModels),
            [&](size_t b, size_t models) { dispatch(b, models, 0, each); });
}

bool makesDensities(const Gpu& gpu, size_t n) { return n <= densities_most && gpu.works({densitiesKernel(n)}); }

void logDensity(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                double constant) {
  if (makesDensities(encoding.gpu(), n)) {
    densities(encoding, factor, mean, rows, out, {1, n, count, false, inverse}, &constant);
    return;
  }
  const auto shift = static_cast<float>(constant);
  const bool few = inverse && count <= fewRows;
  const View zeros = inverse && !few ? zeroMean(encoding, n) : View{};
  const size_t most = std::min(count, rowsPerBlock(n)) * n;
  const View white = encoding.scratch(most), centred = inverse ? encoding.scratch(most) : View{};
  forSlices(count, rowsPerBlock(n), [&](size_t first, size_t here) {
    if (inverse) lessMean(encoding, rows.from(first * n), mean, centred, here, n);
    if (few) {
      multiplyFewRows(encoding, factor, {}, centred, white, here, n);
    } else if (inverse) {
      multiplyRows(encoding, factor, zeros, centred, white, here, n);
    } else {
      solveRows(encoding, factor, mean, Mean::isTaken, rows.from(first * n), white, here, n);
    }
    logDensityOfNorms(encoding, white, out.from(first), shift, here, n);
  });
}

bool canSample(const Gpu& gpu, size_t count, size_t n, bool inverse) {
  const bool isFused = (n <= fusedColumns && gpu.works({"sample_rows"})) || drawsNarrow(gpu, n, inverse);
  const bool areFew = !inverse && count <= fewRows && gpu.works({"multiply_lower"});
  return isFused || areFew || gpu.works({inverse ? "solve_tiles" : "sample_tiles"});
}

bool canLogDensity(const Gpu& gpu, size_t count, size_t n, bool inverse) {
  if (makesDensities(gpu, n)) return true;
  const bool whitens = inverse ? gpu.works({"less_mean", count <= fewRows ? "multiply_lower" : "sample_tiles"})
                               : gpu.works({"solve_tiles"});
  return whitens && gpu.works({"log_density"});
}

}  // namespace covarium::metal
