#include "product.h"

#include <algorithm>

namespace covarium::cuda {

using namespace gpu;

namespace {

// Rows of one launch: as many rows of tiles as the GPU makes at once, or an eighth of all, so that they are copied to
// the host while the next are made. They are few enough that a cancelled commit does not go on for long. A result
// that stays on the GPU is cut only for that reason.
size_t rowsPerLaunch(const ProductShape& shape, bool stays) {
  constexpr size_t tilesAtOnce = 2 * processorsOfH100;
  constexpr double mostProducts = 1e12;
  const size_t across = groupsOf(shape.n, tile_side), atOnce = std::max<size_t>(tilesAtOnce / across, 1);
  const double products = static_cast<double>(shape.n) * static_cast<double>(shape.k);
  const auto most = static_cast<size_t>(mostProducts / products / tile_side);
  const size_t wanted = stays ? most : std::max(atOnce, shape.m / 8 / tile_side / atOnce * atOnce);
  return std::max<size_t>(std::min(wanted, most), 1) * tile_side;
}

}  // namespace

bool isCountable(const ProductShape& shape) {
  constexpr size_t most = size_t{1} << 30;
  return shape.m > 0 && shape.n > 0 && shape.k > 0 && shape.m < most && shape.n < most && shape.k < most &&
         tile_groups(shape.m, shape.n) < most;
}

void product(Run& run, View a, View b, View c, const ProductShape& shape, Dtype dtype) {
  const Cublas* library = run.cublas();
  const uint m = static_cast<uint>(shape.m), n = static_cast<uint>(shape.n), k = static_cast<uint>(shape.k);
  const size_t rows = rowsPerLaunch(shape, run.staysOnGpu(c)), floats = bytesOf(dtype) / sizeof(float);
  forSlices(shape.m, rows, [&](size_t first, size_t here) {
    const size_t at = first * n * floats, count = here * n * floats;
    const DevicePointer out = run.slice(c, at, count);
    if (library != nullptr) {
      ProductShape part = shape;
      part.m = here;
      const size_t skipped = shape.transposeA ? first : first * k, stride = shape.transposeA ? m : k;
      run.requireStarted(library->product(run.address(a, skipped * floats), stride, run.address(b), out, part, dtype),
                         "A product");
      run.made(c, at, count);
      return;
    }
    const auto launch = [&](const char* kernel, auto params) {
      run.launchTiles(kernel, {run.address(a), run.address(b), out}, params, tile_groups(here, n));
    };
    const uint begin = static_cast<uint>(first), turnedA = shape.transposeA, turnedB = shape.transposeB;
    if (dtype == Dtype::float64)
      launch("product_tiles_float64", ProductParamsFloat64{m, n, k, begin, turnedA, turnedB, shape.alpha, shape.beta});
    else
      launch("product_tiles", ProductParams{m, n, k, begin, turnedA, turnedB, static_cast<float>(shape.alpha),
                                            static_cast<float>(shape.beta)});
    run.made(c, at, count);
  });
}

}  // namespace covarium::cuda
