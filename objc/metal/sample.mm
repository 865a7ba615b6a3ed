#include "sample.h"

#include <algorithm>

#include "gpu.h"
#include "../gpu/sample-params.h"
#include "rows.h"
#include "triangle.h"

namespace covarium::metal {

namespace {

constexpr size_t mostFusedGroups = size_t{1} << 20;

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

void logDensity(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                double constant) {
  const auto shift = static_cast<float>(constant);
  if (n <= fusedColumns && encoding.gpu().works({"log_density_rows"})) {
    forSlices(count, mostFusedGroups * 64, [&](size_t first, size_t here) {
      const LogDensityParams params = {static_cast<uint>(here), static_cast<uint>(n), inverse ? 1u : 0u, shift};
      encoding.dispatch("log_density_rows", {factor, mean, rows.from(first * n), out.from(first)}, params, here);
      encoding.worked(secondsFor(1.0 * here * n * n, 4.0 * here * n));
    });
    return;
  }
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

}  // namespace covarium::metal
