#include "triangle.h"

#include <algorithm>
#include <array>

#include "gpu.h"
#include "../gpu/sample-params.h"
#include "rows.h"

namespace covarium::metal {

namespace {

// Half of a square product would be multiplication by zero, so it is made by panels of the factor's columns, unless
// they become too thin for the GPU. Panels begin at multiples of 128 bytes in each row.
constexpr size_t thinnestPanel = 256;
constexpr size_t mostPanels = 8;

// Solves by blocks of rows, so that long work can be cut between them. `work`, and `out` if it is written, are as in
// msl/solve-tiles.metal.
void solveByTiles(Encoding& encoding, const std::array<View, 5>& views, SolveTileParams params, size_t count) {
  const size_t n = params.columns;
  forSlices(count, rowsPerBlock(n), [&](size_t first, size_t here) {
    const auto& [factor, mean, rows, work, out] = views;
    params.rows = static_cast<uint>(here);
    encoding.dispatchWholeGroups("solve_tiles",
                                 {factor, mean, rows.from(first * n), work.from(first * n), out.from(first * n)},
                                 params, tile_groups(here, 1), tile_lanes, tile_bytes());
    encoding.worked(solveSeconds(here, n));
  });
}

// Solves factor' y = x in place, from the last column to the first. `reversed` is the antitransposed factor.
void solveTransposed(Encoding& encoding, View reversed, View rows, size_t count, size_t n) {
  const View work = encoding.scratch(std::min(count, rowsPerBlock(n)) * n);
  const SolveTileParams params = {0, static_cast<uint>(n), solve_without_mean, 1};
  forSlices(count, rowsPerBlock(n), [&](size_t first, size_t here) {
    const View there = rows.from(first * n);
    solveByTiles(encoding, {reversed, reversed, there, work, there}, params, here);
  });
}

View antitransposed(Encoding& encoding, View factor, size_t n) {
  const View copy = encoding.scratch(n * n);
  encoding.copy(factor, copy, n * n);
  encoding.dispatch("antitranspose", {copy}, matrixParams(n, n), n, n);
  encoding.worked(passSeconds(4, n * n));
  return copy;
}

// A copy of the factor with zeros above the diagonal, because the contract says that a device never reads there.
View lowerOf(Encoding& encoding, View factor, size_t n) {
  const View lower = encoding.scratch(n * n);
  encoding.dispatch("copy_lower", {factor, lower}, matrixParams(n, n), n, n);
  encoding.worked(passSeconds(2, n * n));
  return lower;
}

// Each row x of rows becomes lower' x in out, which is not rows; `lower` has zeros above its diagonal.
void multiplyTransposed(Encoding& encoding, View lower, View rows, View out, size_t count, size_t n) {
  const MatrixView l = {lower, n, n, n}, x = {rows, count, n, n}, y = {out, count, n, n};
  Mps& mps = encoding.gpu().mps();
  if (count == 1) {
    mps.vectorProduct(encoding, l, true, rows, out, 1, 0);
    encoding.worked(secondsFor(2.0 * n * n, 4.0 * n * n));
    return;
  }
  const size_t width = std::max(thinnestPanel, groupsOf(n, mostPanels * 32) * 32);
  forSlices(n, width, [&](size_t first, size_t here) {
    const size_t interior = n - first;
    mps.product(encoding, x.block(0, first, count, interior), false, l.block(first, first, interior, here), false,
                y.block(0, first, count, here), 1, 0);
    encoding.worked(secondsFor(2.0 * count * here * interior, 8.0 * count * here));
  });
}

}  // namespace

void multiplyFewRows(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n) {
  const bool addsMean = mean.buffer != nullptr;
  const MultiplyLowerParams params = {static_cast<uint>(count), static_cast<uint>(n), addsMean ? 1u : 0u};
  // Each lane takes a few entries of a row of the factor, and only the last rows have n of them. Groups of 128 lanes
  // read long rows fastest; groups of 1,024 read them at half that rate or less (test/real-gpu/rates.cc).
  encoding.dispatchGroups("multiply_lower", {factor, addsMean ? mean : factor, rows, out}, params,
                          n * groupsOf(count, 4), std::min<size_t>(n / 16 + 1, 128), multiply_lower_bytes);
  encoding.worked(secondsFor(2.0 * count * n * n, 2.0 * n * n));
}

void multiplyRows(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n) {
  encoding.dispatchWholeGroups("sample_tiles", {factor, mean, rows, out},
                               sampleTileParams(count, n, out.offsetBytes, 0), tile_groups(count, n), tile_lanes,
                               tile_bytes());
  encoding.worked(secondsFor(1.0 * count * n * n, 8.0 * count * n));
}

View zeroMean(Encoding& encoding, size_t n) {
  const View zeros = encoding.readable(n);
  std::fill_n(static_cast<float*>(zeros.buffer->contents()), n, 0.0f);
  return zeros;
}

void solveRows(Encoding& encoding, View factor, View mean, Mean use, View rows, View out, size_t count, size_t n) {
  const SolveTileParams params = {0, static_cast<uint>(n), static_cast<uint>(use), 0};
  const View work = use == Mean::isAdded ? rows : out;
  solveByTiles(encoding, {factor, use == Mean::none ? factor : mean, rows, work, out}, params, count);
}

void triangularProduct(Encoding& encoding, View factor, View rows, size_t count, size_t n, bool transposed) {
  const View before = encoding.scratch(std::min(count, rowsPerBlock(n)) * n);
  if (!transposed && count <= fewRows) {
    encoding.copy(rows, before, count * n);
    multiplyFewRows(encoding, factor, {}, before, rows, count, n);
    return;
  }
  const View other = transposed ? lowerOf(encoding, factor, n) : zeroMean(encoding, n);
  forSlices(count, rowsPerBlock(n), [&](size_t first, size_t here) {
    const View there = rows.from(first * n);
    encoding.copy(there, before, here * n);
    if (transposed)
      multiplyTransposed(encoding, other, before, there, here, n);
    else
      multiplyRows(encoding, factor, other, before, there, here, n);
  });
}

void triangularSolve(Encoding& encoding, View factor, View rows, size_t count, size_t n, bool transposed) {
  if (transposed) return solveTransposed(encoding, antitransposed(encoding, factor, n), rows, count, n);
  solveRows(encoding, factor, {}, Mean::none, rows, rows, count, n);
}

void choleskySolve(Encoding& encoding, View factor, View rows, size_t count, size_t n) {
  const View reversed = antitransposed(encoding, factor, n);
  solveRows(encoding, factor, {}, Mean::none, rows, rows, count, n);
  solveTransposed(encoding, reversed, rows, count, n);
}

}  // namespace covarium::metal
