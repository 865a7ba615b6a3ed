#include "cholesky.h"

#include <string>

#include "../gpu/cholesky-tiles.h"

namespace covarium::cuda {

using namespace gpu;

void cholesky(Run& run, View a, size_t n, Dtype dtype) {
  const uint columns = static_cast<uint>(n);
  const std::string type = dtype == Dtype::float32 ? "" : "_float64";
  const DevicePointer matrix = run.address(a), failed = run.scratch(1);
  const auto launch = [&](const char* name, uint first, size_t groups) {
    run.launch((name + type).c_str(), {matrix, failed}, CholeskyTileParams{columns, first}, groups, tile_lanes,
               cuda_tile_bytes());
  };
  forCholeskyTiles(n, launch, [&](size_t) { run.waitForEarlier(); });
  run.afterwards(failed, refuseFailed);
}

}  // namespace covarium::cuda
