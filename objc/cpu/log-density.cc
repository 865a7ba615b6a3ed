#include "log-density.h"

#include <algorithm>

#include "triangular.h"

namespace covarium::cpu {

template <typename T>
void logDensity(const Execution& execution, const T* factor, const T* mean, const T* rows, T* out, size_t count,
                size_t n, bool inverse, T constant) {
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  const unsigned threads = usefulThreads(count, n, execution.pool.threads());
  size_t blockRows = rowsPerBlock(count, n, threads);
  if (execution.blas.isBuiltIn) blockRows = std::min(blockRows, cachedRows<T>(count, n, threads));
  const bool isNarrow = !inverse && n <= kernels.solveLimit && solvesItself<T>(execution, n);
  forRowBlocks(execution, count, blockRows, [&](size_t first, size_t here, unsigned) {
    if (isNarrow && here > kernels.fewRows)
      return kernels.logDensities(factor, mean, rows + first * n, out + first, here, n, constant);
    T* centred = static_cast<T*>(productScratch(3, blockRows * n * sizeof(T)));
    std::copy(rows + first * n, rows + (first + here) * n, centred);
    kernels.addRow(centred, mean, T(-1), here, n);
    if (inverse) {
      multiplyRows(execution, factor, centred, here, n, false);
    } else {
      solveRows(execution, factor, centred, here, n, false);
    }
    kernels.squaredNorms(centred, out + first, here, n);
    for (size_t r = first; r < first + here; ++r) out[r] = constant - out[r] / 2;
  });
}

template void logDensity(const Execution&, const float*, const float*, const float*, float*, size_t, size_t, bool,
                         float);
template void logDensity(const Execution&, const double*, const double*, const double*, double*, size_t, size_t, bool,
                         double);

}  // namespace covarium::cpu
