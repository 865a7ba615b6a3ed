#include "solve.h"

#include <algorithm>

#include "../gpu/sample-params.h"

namespace covarium::cuda {

using namespace gpu;

namespace {

void launchTiles(Run& run, const SolvedRows& at, size_t count, SolveTileParams params, Dtype dtype) {
  params.rows = static_cast<uint>(count);
  run.launchTiles(kernelFor("solve_tiles", dtype), {at.factor, at.mean, at.rows, at.work, at.out}, params,
                  tile_groups(count, 1));
}

DevicePointer antitransposed(Run& run, View factor, size_t n, Dtype dtype) {
  const DevicePointer copy = run.scratch(n * n * bytesOf(dtype) / sizeof(float));
  run.launchThreads(kernelFor("antitransposed", dtype), {run.address(factor), copy}, matrixParams(n, n), n * n);
  return copy;
}

}  // namespace

size_t tiledRows(size_t count, size_t n) {
  constexpr size_t elements = size_t{1} << 27, leastTiles = 16;
  return std::min(count, std::max(elements / n / tile_side, leastTiles) * tile_side);
}

void multiplyTiles(Run& run, DevicePointer factor, DevicePointer mean, DevicePointer rows, DevicePointer out,
                   size_t count, size_t n, Dtype dtype) {
  run.launchTiles(kernelFor("sample_tiles", dtype), {factor, mean, rows, out},
                  sampleTileParams(count, n, out, run.multiprocessors()), tile_groups(count, n));
}

void solveTiles(Run& run, const SolvedRows& at, size_t count, size_t n, unsigned mean, Dtype dtype) {
  launchTiles(run, at, count, {0, static_cast<uint>(n), mean, 0}, dtype);
}

void solve(Run& run, View factor, View rows, size_t count, size_t n, Solve which, Dtype dtype) {
  const size_t floats = bytesOf(dtype) / sizeof(float), blockRows = tiledRows(count, n);
  const bool turns = which != Solve::forwards;
  const DevicePointer reversed = turns ? antitransposed(run, factor, n, dtype) : 0;
  const DevicePointer work = turns ? run.scratch(blockRows * n * floats) : 0;
  forSlices(count, blockRows, [&](size_t first, size_t here) {
    const size_t at = first * n * floats;
    const DevicePointer block = run.address(rows, at), own = run.address(factor);
    if (which != Solve::transposed)
      solveTiles(run, {own, own, block, block, block}, here, n, solve_without_mean, dtype);
    if (turns)
      launchTiles(run, {reversed, reversed, block, work, block}, here, {0, static_cast<uint>(n), solve_without_mean, 1},
                  dtype);
    run.made(rows, at, here * n * floats);
  });
}

}  // namespace covarium::cuda
