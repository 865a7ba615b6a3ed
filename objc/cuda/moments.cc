#include "moments.h"

#include <algorithm>

namespace covarium::cuda {

using namespace gpu;

namespace {

// The smallest tiles that suffice, and as many segments as keep the GPU busy.
MomentsParams shapeOf(size_t count, size_t n, bool hasProducts) {
  constexpr size_t groupsAtOnce = 4 * processorsOfH100, leastPanels = 4;
  const uint columns = static_cast<uint>(n), side = n <= 4 ? 4 : n <= 8 ? 8 : n <= 16 ? 16 : n <= 32 ? 32 : 64;
  const size_t tiles = moments_tiles(moments_bands(columns, side), hasProducts ? 1 : 0);
  const size_t most = std::max<size_t>(count / (leastPanels * moments_panel / side), 1);
  const size_t segments = std::clamp<size_t>(groupsAtOnce / tiles, 1, most);
  return {static_cast<uint>(count), columns, hasProducts ? 1u : 0u, side, static_cast<uint>(segments)};
}

// NVIDIA's library is several times as fast as ours at 1000 columns; below libraryColumns the two were not compared.
constexpr size_t libraryColumns = 256;

// products += centred' centred, on and below the diagonal, by blocks of rows.
void addProducts(Run& run, const Cublas& library, View rows, View centre, View products, size_t count, size_t n,
                 Dtype dtype) {
  constexpr size_t most = size_t{1} << 21;
  const size_t blockRows = std::min(count, std::max<size_t>(most / n, 1)), floats = bytesOf(dtype) / sizeof(float);
  const size_t ofDouble = sizeof(double) / sizeof(float);
  const DevicePointer centred = run.scratch(blockRows * n * ofDouble), added = run.scratch(n * n * ofDouble);
  forSlices(count, blockRows, [&](size_t first, size_t here) {
    run.launchThreads(kernelFor("less_centre", dtype),
                      {run.address(rows, first * n * floats), run.address(centre), centred}, matrixParams(here, n),
                      here * n);
    const ProductShape shape = {n, n, here, true, false, 1, first == 0 ? 0.0 : 1.0};
    run.requireStarted(library.product(centred, n, centred, added, shape, Dtype::float64), "A covariance");
  });
  run.launchThreads("add_lower", {added, run.address(products)}, matrixParams(n, n), n * n);
}

}  // namespace

void addMoments(Run& run, View rows, View centre, View sums, View products, size_t count, size_t n, bool hasProducts,
                Dtype dtype) {
  const Cublas* library = hasProducts && n >= libraryColumns ? run.cublas() : nullptr;
  if (library != nullptr) {
    addProducts(run, *library, rows, centre, products, count, n, dtype);
    hasProducts = false;
  }
  const MomentsParams params = shapeOf(count, n, hasProducts);
  const size_t tiles = moments_tiles(moments_bands(params.columns, params.side), params.products);
  const size_t length = moments_length(params.columns, params.side, params.products);
  const DevicePointer partial = run.scratch(length * params.segments * sizeof(double) / sizeof(float));
  run.launch(kernelFor("add_moments", dtype), {run.address(rows), run.address(centre), partial}, params,
             tiles * params.segments, moments_lanes, sizeof(double) * moments_elements);
  run.launch("add_segments", {partial, run.address(sums), run.address(products)}, params,
             groupsOf(length, moments_entries), moments_lanes, sizeof(double) * moments_lanes);
  run.waitForEarlier();
}

void countBetween(Run& run, View rows, View limits, View kept, View counts, size_t rowCount, const BracketShape& shape,
                  Dtype dtype) {
  const BetweenParams params = {static_cast<uint>(rowCount), static_cast<uint>(shape.n), static_cast<uint>(shape.count),
                                static_cast<uint>(std::min<size_t>(shape.capacity, 0xffffffffu))};
  run.launch(kernelFor("count_between", dtype),
             {run.address(rows), run.address(limits), run.address(kept), run.address(counts)}, params,
             between_threads / between_lanes, between_lanes);
  run.waitForEarlier();
}

void selectRanks(Run& run, View kept, View lengths, View ranks, View out, size_t slots, size_t capacity, Dtype dtype) {
  run.launch(kernelFor("select_ranks", dtype),
             {run.address(kept), run.address(lengths), run.address(ranks), run.address(out)},
             SelectParams{static_cast<uint>(slots), static_cast<uint>(capacity)}, slots, select_lanes,
             sizeof(uint) * select_bins);
}

}  // namespace covarium::cuda
