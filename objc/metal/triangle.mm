#include "triangle.h"

#include <algorithm>

#include "gpu.h"
#include "../gpu/params.h"
#include "rows.h"

namespace covarium::metal {

namespace {

// Half of a square product is multiplication by zero: it is done by panels of the factor's rows, unless they become too
// thin for the GPU. They begin at multiples of 128 bytes in each row.
constexpr size_t thinnestPanel = 256;
constexpr size_t mostPanels = 8;

// Rows that are solved at once, so that long work can be cut between them.
size_t rowsPerSolve(size_t n) { return std::max<size_t>(64, size_t{2'500'000'000} / (n * n)); }

}  // namespace

void multiplyFewRows(Encoding& encoding, View factor, View mean, View rows, View out, size_t count, size_t n) {
  const bool addsMean = mean.buffer != nullptr;
  const MultiplyLowerParams params = {static_cast<uint>(count), static_cast<uint>(n), addsMean ? 1u : 0u};
  // Each lane takes a few entries of a row, of which the last ones alone have n.
  encoding.dispatchGroups("multiply_lower", {factor, addsMean ? mean : factor, rows, out}, params,
                          n * ((count + 3) / 4), n / 16 + 1, multiply_lower_bytes);
  encoding.worked(secondsFor(2.0 * count * n * n, 2.0 * n * n));
}

View lowerOf(Encoding& encoding, View factor, size_t n) {
  const View lower = encoding.scratch(n * n);
  const MatrixParams params = {static_cast<uint>(n), static_cast<uint>(n)};
  encoding.dispatch("copy_lower", {factor, lower}, params, n, n);
  encoding.worked(passSeconds(2, n * n));
  return lower;
}

void multiplyRows(Encoding& encoding, View lower, View rows, View out, size_t count, size_t n, bool transposed,
                  double beta) {
  const MatrixView l = {lower, n, n, n}, x = {rows, count, n, n}, y = {out, count, n, n};
  Mps& mps = encoding.gpu().mps();
  if (count == 1) {
    mps.vectorProduct(encoding, l, transposed, rows, out, 1, beta);
    encoding.worked(secondsFor(2.0 * n * n, 4.0 * n * n));
    return;
  }
  const size_t width = std::max(thinnestPanel, (n + mostPanels * 32 - 1) / (mostPanels * 32) * 32);
  for (size_t first = 0; first < n; first += width) {
    const size_t here = std::min(width, n - first), last = first + here;
    if (transposed) {
      mps.product(encoding, x.block(0, first, count, n - first), false, l.block(first, first, n - first, here), false,
                  y.block(0, first, count, here), 1, beta);
    } else {
      mps.product(encoding, x.block(0, 0, count, last), false, l.block(first, 0, here, last), true,
                  y.block(0, first, count, here), 1, beta);
    }
    encoding.worked(secondsFor(2.0 * count * here * (transposed ? n - first : last), 8.0 * count * here));
  }
}

void solveRows(Encoding& encoding, View lower, View rows, View out, size_t count, size_t n, bool transposed) {
  const size_t most = rowsPerSolve(n);
  for (size_t first = 0; first < count; first += most) {
    const size_t here = std::min(most, count - first);
    encoding.gpu().mps().solveRows(encoding, {lower, n, n, n}, transposed, {rows.from(first * n), here, n, n},
                                   {out.from(first * n), here, n, n});
    encoding.worked(solveSeconds(here, n));
  }
}

void triangularProduct(Encoding& encoding, View factor, View rows, size_t count, size_t n, bool transposed) {
  const View before = encoding.scratch(std::min(count, rowsPerBlock(n)) * n);
  if (!transposed && count <= fewRows && encoding.gpu().works({"multiply_lower"})) {
    encoding.copy(rows, before, count * n);
    multiplyFewRows(encoding, factor, {}, before, rows, count, n);
    return;
  }
  const View lower = lowerOf(encoding, factor, n);
  forRowBlocks(count, n, [&](size_t first, size_t here) {
    encoding.copy(rows.from(first * n), before, here * n);
    multiplyRows(encoding, lower, before, rows.from(first * n), here, n, transposed, 0);
  });
}

void triangularSolve(Encoding& encoding, View factor, View rows, size_t count, size_t n, bool transposed) {
  const View lower = lowerOf(encoding, factor, n);
  const View before = encoding.scratch(std::min(count, rowsPerBlock(n)) * n);
  forRowBlocks(count, n, [&](size_t first, size_t here) {
    encoding.copy(rows.from(first * n), before, here * n);
    solveRows(encoding, lower, before, rows.from(first * n), here, n, transposed);
  });
}

// MPS takes right sides by columns, so the rows are transposed on the way there and back.
void choleskySolve(Encoding& encoding, View factor, View rows, size_t count, size_t n) {
  const View lower = lowerOf(encoding, factor, n);
  const size_t most = std::min(count, rowsPerBlock(n));
  const View columns = encoding.scratch(most * n), solved = encoding.scratch(most * n);
  forRowBlocks(count, n, [&](size_t first, size_t here) {
    const MatrixParams there = {static_cast<uint>(here), static_cast<uint>(n)};
    const MatrixParams back = {static_cast<uint>(n), static_cast<uint>(here)};
    encoding.dispatch("transpose_matrix", {rows.from(first * n), columns}, there, n, here);
    encoding.gpu().mps().solveCholesky(encoding, {lower, n, n, n}, {columns, n, here, here}, {solved, n, here, here});
    encoding.dispatch("transpose_matrix", {solved, rows.from(first * n)}, back, here, n);
    encoding.worked(2 * solveSeconds(here, n));
  });
}

}  // namespace covarium::metal
