#include "cholesky.h"

#include <string>

#include "../gpu/params.h"

namespace covarium::cuda {

using namespace gpu;

void cholesky(Run& run, View a, size_t n, Dtype dtype) {
  const uint columns = static_cast<uint>(n);
  const std::string type = dtype == Dtype::float32 ? "" : "_float64";
  const size_t memoryBytes = bytesOf(dtype) / sizeof(float) * tile_bytes();
  const DevicePointer matrix = run.address(a), failed = run.scratch(1);
  const auto launch = [&](const char* name, uint first, size_t groups) {
    run.launch((name + type).c_str(), {matrix, failed}, CholeskyTileParams{columns, first}, groups, tile_lanes,
               memoryBytes);
  };
  for (uint first = 0; first < columns; first += tile_side) {
    launch("cholesky_diagonal", first, 1);
    const size_t below = columns - first <= tile_side ? 0 : columns - first - tile_side;
    if (below == 0) break;
    launch("cholesky_below", first, (below + tile_side - 1) / tile_side);
    launch("cholesky_update", first, tile_groups(below, below));
    run.waitForEarlier();
  }
  run.afterwards(failed, [](uint32_t bad) {
    if (bad != cholesky_good)
      throw Failure::atPivot(static_cast<int64_t>(bad),
                             "Matrix is not positive definite: pivot (" + std::to_string(bad) + ") is not positive.");
  });
}

}  // namespace covarium::cuda
