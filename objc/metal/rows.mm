#include "rows.h"

#include <algorithm>

#include "mps.h"
#include "../gpu/sample-params.h"

namespace covarium::metal {

namespace {

constexpr size_t blockBytes = size_t{64} << 20;
constexpr size_t mostPerDispatch = size_t{1} << 28;  // threads; a grid counts to 2^32

size_t rowsPerDispatch(size_t threadsPerRow) { return std::max<size_t>(1, mostPerDispatch / threadsPerRow); }

template <typename Params>
void reduceRows(Encoding& encoding, const char* kernel, View rows, View out, Params params, size_t count, size_t n) {
  constexpr size_t lanes = 256;
  forSlices(count, rowsPerDispatch(lanes), [&](size_t first, size_t here) {
    params.rows = static_cast<uint>(here);
    params.columns = static_cast<uint>(n);
    encoding.dispatchGroups(kernel, {rows.from(first * n), out.from(first)}, params, here, n, simdgroup_values_bytes);
    encoding.worked(passSeconds(1, here * n));
  });
}

}  // namespace

size_t rowsPerBlock(size_t columns) {
  const size_t rows = std::max<size_t>(1, blockBytes / sizeof(float) / columns);
  return rows > Mps::largestTile ? rows / Mps::largestTile * Mps::largestTile : rows;
}

void fillNormal(Encoding& encoding, View out, size_t count, NormalCounter counter) {
  forSlices(count, mostPerDispatch, [&](size_t first, size_t here) {
    const NormalParams params = normalParams(after(counter, first), here);
    encoding.dispatch("fill_normal", {out.from(first)}, params, fill_normal_threads(counter.first + first, here));
    encoding.worked(normalSeconds(here));
  });
}

void addRow(Encoding& encoding, View rows, View row, float scale, size_t count, size_t n) {
  forSlices(count, rowsPerDispatch(n), [&](size_t first, size_t here) {
    const RowParams params = {static_cast<uint>(here), static_cast<uint>(n), scale};
    encoding.dispatch("add_row", {rows.from(first * n), row}, params, n, here);
    encoding.worked(passSeconds(2, here * n));
  });
}

void lessMean(Encoding& encoding, View rows, View mean, View out, size_t count, size_t n) {
  encoding.dispatch("less_mean", {rows, mean, out}, matrixParams(count, n), count * n);
  encoding.worked(passSeconds(2, count * n));
}

void scaleColumns(Encoding& encoding, View rows, View row, size_t count, size_t n) {
  forSlices(count, rowsPerDispatch(n), [&](size_t first, size_t here) {
    encoding.dispatch("scale_columns", {rows.from(first * n), row}, matrixParams(here, n), n, here);
    encoding.worked(passSeconds(2, here * n));
  });
}

void squaredNorms(Encoding& encoding, View rows, View out, size_t count, size_t n) {
  reduceRows(encoding, "squared_norms", rows, out, MatrixParams{}, count, n);
}

void logDensityOfNorms(Encoding& encoding, View rows, View out, float constant, size_t count, size_t n) {
  reduceRows(encoding, "log_density", rows, out, LogDensityParams{0, 0, constant}, count, n);
}

}  // namespace covarium::metal
