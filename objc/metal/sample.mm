#include "sample.h"

#include <algorithm>

#include "gpu.h"
#include "../gpu/params.h"
#include "rows.h"
#include "triangle.h"

namespace covarium::metal {

namespace {

constexpr size_t mostFusedGroups = size_t{1} << 20;

NormalCounter after(NormalCounter counter, size_t elements) {
  return {counter.seed, counter.stream, counter.first + elements};
}

void sampleFused(Encoding& encoding, View factor, View mean, View out, size_t count, size_t n, bool inverse,
                 NormalCounter counter) {
  const uint columns = static_cast<uint>(n), direction = inverse ? 1 : 0;
  const uint rows = static_cast<uint>(sample_rows_per_group(columns, direction));
  const size_t most = rows * mostFusedGroups;
  for (size_t first = 0; first < count; first += most) {
    const size_t here = std::min(most, count - first);
    const uint64_t element = counter.first + first * n;
    const SampleParams params = {lowWord(counter.seed),
                                 highWord(counter.seed),
                                 lowWord(counter.stream),
                                 highWord(counter.stream),
                                 lowWord(element),
                                 highWord(element),
                                 static_cast<uint>(here),
                                 columns,
                                 rows,
                                 direction};
    encoding.dispatchGroups("sample_rows", {factor, mean, out.from(first * n)}, params, (here + rows - 1) / rows,
                            sample_rows_lanes(direction),
                            [&](uint, uint) { return sample_rows_bytes(columns, rows, direction); });
    encoding.worked(secondsFor(here * n * (60.0 + n), 4.0 * here * n));
  }
}

}  // namespace

void sample(Encoding& encoding, View factor, View mean, View out, size_t count, size_t n, bool inverse,
            NormalCounter counter) {
  if (n <= fusedColumns && encoding.gpu().works({"sample_rows"})) {
    sampleFused(encoding, factor, mean, out, count, n, inverse, counter);
    return;
  }
  const View normals = encoding.scratch(std::min(count, rowsPerBlock(n)) * n);
  if (!inverse && count <= fewRows && encoding.gpu().works({"multiply_lower"})) {
    fillNormal(encoding, normals, count * n, counter);
    multiplyFewRows(encoding, factor, mean, normals, out, count, n);
    return;
  }
  const View lower = lowerOf(encoding, factor, n);
  forRowBlocks(count, n, [&](size_t first, size_t here) {
    const View rows = out.from(first * n);
    fillNormal(encoding, normals, here * n, after(counter, first * n));
    if (inverse) {
      solveRows(encoding, lower, normals, rows, here, n, false);
      addRow(encoding, rows, mean, 1, here, n);
    } else {
      fillRows(encoding, rows, mean, here, n);
      multiplyRows(encoding, lower, normals, rows, here, n, false, 1);
    }
  });
}

void logDensity(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n, bool inverse,
                double constant) {
  const auto shift = static_cast<float>(constant);
  if (n <= fusedColumns && encoding.gpu().works({"log_density_rows"})) {
    for (size_t first = 0; first < count; first += mostFusedGroups * 64) {
      const size_t here = std::min(mostFusedGroups * 64, count - first);
      const LogDensityParams params = {static_cast<uint>(here), static_cast<uint>(n), inverse ? 1u : 0u, shift};
      encoding.dispatch("log_density_rows", {factor, mean, rows.from(first * n), out.from(first)}, params, here);
      encoding.worked(secondsFor(1.0 * here * n * n, 4.0 * here * n));
    }
    return;
  }
  const bool few = inverse && count <= fewRows && encoding.gpu().works({"multiply_lower"});
  const View lower = few ? factor : lowerOf(encoding, factor, n);
  const size_t most = std::min(count, rowsPerBlock(n)) * n;
  const View centred = encoding.scratch(most), white = encoding.scratch(most);
  forRowBlocks(count, n, [&](size_t first, size_t here) {
    encoding.copy(rows.from(first * n), centred, here * n);
    addRow(encoding, centred, mean, -1, here, n);
    if (few) {
      multiplyFewRows(encoding, lower, {}, centred, white, here, n);
    } else if (inverse) {
      multiplyRows(encoding, lower, centred, white, here, n, false, 0);
    } else {
      solveRows(encoding, lower, centred, white, here, n, false);
    }
    logDensityOfNorms(encoding, white, out.from(first), shift, here, n);
  });
}

}  // namespace covarium::metal
