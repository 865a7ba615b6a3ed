#include "sample.h"

#include <algorithm>
#include <vector>

#include "few-rows.h"
#include "triangular.h"

namespace covarium::cpu {

namespace {

constexpr size_t streamElements = 4096;    // of a block in the first-level cache ...
constexpr size_t inPlaceElements = 16384;  // ... or in the second, where it is the output itself

NormalCounter at(NormalCounter counter, uint64_t elements) {
  counter.first += elements;
  return counter;
}

// For few columns: makes normals in a small block and writes mean + factor z to the output, or makes both in the
// output.
template <typename T>
void sampleNarrow(const Execution& execution, const T* factor, const T* mean, T* out, size_t count, size_t n,
                  NormalCounter counter) {
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  constexpr size_t margin =
      64;  // readable in front of and behind the block, as streamedProduct needs, and whole cache lines
  std::vector<T> table(kernels.narrowTableLength(n));
  kernels.narrowTable(factor, mean, n, table.data());
  const bool streamed = n <= kernels.streamLimit;
  const size_t blockRows = (streamed ? streamElements : inPlaceElements) / n;
  const size_t taskBlocks =
      std::clamp<size_t>(count / blockRows / (8 * size_t{execution.pool.threads()}), 1, 16);  // several per thread
  forRowBlocks(execution, count, taskBlocks * blockRows, [&](size_t first, size_t rows, unsigned) {
    alignas(64) T scratch[streamElements + 2 * margin] = {};
    for (size_t r = first; r < first + rows; r += blockRows) {
      const size_t here = std::min(blockRows, first + rows - r);
      T* block = out + r * n;
      T* z = streamed ? scratch + margin : block;
      kernels.fillNormal(z, here * n, at(counter, uint64_t{r} * n));
      if (streamed) {
        kernels.streamedProduct(table.data(), z, block, here, n);
      } else {
        kernels.narrowProduct(table.data(), block, here, n);
      }
    }
  });
}

template <typename T>
void sampleFewRows(const Execution& execution, const T* factor, const T* mean, T* out, size_t count, size_t n,
                   NormalCounter counter) {
  thread_local std::vector<T> normals;
  normals.resize(count * n);
  T* z = normals.data();
  execution.kernels.of<T>().fillNormal(z, count * n, counter);
  multiplyFewRows(execution, factor, mean, z, out, count, n);
}

// Panels of the factor that all blocks of rows share, made by all threads; null for a factor that is too large to keep
// a second time, and for so few rows that reading what other threads wrote costs more: each block makes its own then.
template <typename T>
const T* packedFactor(const Execution& execution, const T* factor, size_t count, size_t n) {
  constexpr size_t mostBytes = 16 << 20, leastRows = 512;  // rows for each thread
  if (count < leastRows * execution.pool.threads()) return nullptr;
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  const size_t length = kernels.packedLength(n), panels = (n + kernels.panelRows - 1) / kernels.panelRows;
  if (length * sizeof(T) > mostBytes) return nullptr;
  T* packed = static_cast<T*>(productScratch(4, length * sizeof(T)));
  // The longest first.
  execution.pool.run(panels, [&](size_t i, unsigned) { kernels.packLower(factor, n, panels - 1 - i, packed); });
  return packed;
}

// Rows whose normals stay in the second-level cache; few, so that threads end together.
template <typename T>
size_t packedRows(size_t count, size_t n, unsigned threads) {
  return balancedRows(count, std::clamp<size_t>((1 << 18) / (n * sizeof(T)), 32, 256), threads);
}

// By our own products: normals into a block in the cache, and from there mean + factor z into the output.
template <typename T>
void sampleBlocks(const Execution& execution, const T* factor, const T* mean, T* out, size_t count, size_t n,
                  NormalCounter counter) {
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  const T* panels = packedFactor(execution, factor, count, n);
  const unsigned threads = execution.pool.threads();
  const size_t blockRows = panels == nullptr ? cachedRows<T>(count, n, threads) : packedRows<T>(count, n, threads);
  forRowBlocks(execution, count, blockRows, [&](size_t first, size_t rows, unsigned) {
    T* z = static_cast<T*>(productScratch(1, rows * n * sizeof(T)));
    kernels.fillNormal(z, rows * n, at(counter, uint64_t{first} * n));
    if (panels == nullptr)
      kernels.multiplyOnto(factor, mean, z, out + first * n, rows, n, 0, n);
    else
      kernels.multiplyPacked(panels, mean, z, out + first * n, rows, n);
  });
}

}  // namespace

template <typename T>
void sample(const Execution& execution, const T* factor, const T* mean, T* out, size_t count, size_t n, bool inverse,
            NormalCounter counter) {
  if (count == 0) return;
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  if (!inverse && n <= kernels.narrowLimit) return sampleNarrow(execution, factor, mean, out, count, n, counter);
  if (!inverse && count <= fewRowsLimit) return sampleFewRows(execution, factor, mean, out, count, n, counter);
  if (!inverse && execution.blas.isBuiltIn) return sampleBlocks(execution, factor, mean, out, count, n, counter);
  forRowBlocks(execution, count, rowsPerBlock(count, n, execution.pool.threads()),
               [&](size_t first, size_t rows, unsigned) {
                 T* block = out + first * n;
                 kernels.fillNormal(block, rows * n, at(counter, uint64_t{first} * n));
                 if (inverse) {
                   solveRows(execution, factor, block, rows, n, false);
                 } else {
                   multiplyRows(execution, factor, block, rows, n, false);
                 }
                 kernels.addRow(block, mean, T(1), rows, n);
               });
}

template void sample(const Execution&, const float*, const float*, float*, size_t, size_t, bool, NormalCounter);
template void sample(const Execution&, const double*, const double*, double*, size_t, size_t, bool, NormalCounter);

}  // namespace covarium::cpu
