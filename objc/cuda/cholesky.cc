#include "cholesky.h"

#include "../gpu/cholesky-tiles.h"

namespace covarium::cuda {

using namespace gpu;

void cholesky(Run& run, View a, size_t n, Dtype dtype) {
  const DevicePointer matrix = run.address(a), failed = run.scratch(1);
  const auto launch = [&](const char* name, uint first, size_t groups) {
    run.launchTiles(kernelFor(name, dtype), {matrix, failed}, CholeskyTileParams{static_cast<uint>(n), first}, groups);
  };
  forCholeskyTiles(n, launch, [&](size_t) { run.waitForEarlier(); });
  run.afterwards(failed, refuseFailed);
}

}  // namespace covarium::cuda
