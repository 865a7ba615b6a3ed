#include "cholesky.h"

#include <cmath>
#include <string>
#include <vector>

#include "gpu.h"
#include "../gpu/cholesky-tiles.h"
#include "rows.h"
#include "triangle.h"

namespace covarium::metal {

namespace {

// In a smaller matrix one block of columns would be most of it.
constexpr size_t leastByTiles = 512;

constexpr const char* kernelsOfTiles[] = {"cholesky_update", "cholesky_below"};
constexpr const char* kernelsOfMps[] = {"MPSMatrixDecompositionCholesky", "MPSMatrixCopy", "zero_upper"};

template <size_t count>
std::string whyOff(const Gpu& gpu, const char* const (&kernels)[count]) {
  for (const char* kernel : kernels)
    if (const auto off = gpu.off.find(kernel); off != gpu.off.end())
      return std::string("Kernel (") + kernel + ") is off on this GPU, so it makes no factor: " + off->second;
  return "";
}

// Throws with the pivot if the CPU refuses the matrix, too.
void factorOnCpu(Device& cpu, const float* a, size_t n, size_t stride) {
  std::vector<float> dense(n * n);
  for (size_t i = 0; i < n; ++i) std::copy_n(a + i * stride, n, &dense[i * n]);
  const auto commands = cpu.commandBuffer();
  commands->cholesky({cpu.borrow(dense.data(), dense.size() * sizeof(float)), 0, n * n, Dtype::float32}, n,
                     FactorOn::cpu);
  commands->commitAndWait();
}

void checkMps(Device& cpu, const View& kept, const View& outcome, size_t n, size_t stride) {
  const auto* words = static_cast<const int32_t*>(outcome.buffer->contents());
  const auto* diagonal = reinterpret_cast<const float*>(words + 4);
  bool sure = words[0] == MPSMatrixDecompositionStatusSuccess;
  for (size_t i = 0; i < n && sure; ++i) sure = diagonal[i] > 0 && std::isfinite(diagonal[i]);
  if (sure) return;
  factorOnCpu(cpu, static_cast<const float*>(kept.buffer->contents()), n, stride);
  const std::string what =
      " (MPSMatrixDecompositionStatus " + std::to_string(words[0]) + ") though the CPU can factor the matrix.";
  if (words[0] == MPSMatrixDecompositionStatusNonPositiveDefinite || words[0] == MPSMatrixDecompositionStatusSingular)
    throw Failure("ERR_NOT_POSITIVE_DEFINITE", "Matrix is not positive definite to the GPU" + what);
  throw Failure("ERR_DEVICE_FAILED", "Cholesky factorization fails on the GPU" + what);
}

}  // namespace

bool makesByTiles(const Gpu& gpu, size_t n) { return n >= leastByTiles && whyOff(gpu, kernelsOfTiles).empty(); }

std::string lacksCholesky(const Gpu& gpu, FactorOn where, size_t n) {
  if (where != FactorOn::mps) return whyOff(gpu, kernelsOfTiles);
  if (n > Mps::largestTile)
    return "Metal Performance Shaders factor at most (" + std::to_string(Mps::largestTile) + ") columns here, not (" +
           std::to_string(n) + ")";
  return whyOff(gpu, kernelsOfMps);
}

void cholesky(Encoding& encoding, View a, size_t n) {
  const View failed = encoding.readable(1);
  auto* word = static_cast<uint*>(failed.buffer->contents());
  *word = cholesky_good - 1;  // until the GPU overwrites it
  forCholeskyTiles(
      n,
      [&](const char* kernel, uint first, size_t groups) {
        encoding.dispatchWholeGroups(kernel, {a, failed}, CholeskyTileParams{static_cast<uint>(n), first}, groups,
                                     tile_lanes, tile_bytes());
      },
      [&](size_t below) {
        encoding.worked(secondsFor(2.0 * tile_side * below * (below + tile_side), 8.0 * below * below));
      });
  encoding.afterwards([failed, word] { refuseFailed(*word); });
}

// MPS overwrites what it factors even if it fails, and may write above the diagonal.
void choleskyByMps(Encoding& encoding, View a, size_t n) {
  Gpu& gpu = encoding.gpu();
  const size_t stride = Mps::strideFor(n);
  const View kept = encoding.scratch(n * stride), outcome = encoding.readable(4 + n);
  *static_cast<int32_t*>(outcome.buffer->contents()) = MPSMatrixDecompositionStatusFailure;  // until MPS writes it
  gpu.mps().copy(encoding, {a, n, n, n}, {kept, n, n, stride});
  gpu.mps().cholesky(encoding, {kept, n, n, stride}, {a, n, n, n}, outcome);
  gpu.mps().copy(encoding, {a, n, 1, n + 1}, {outcome.from(4), n, 1, 1});  // the diagonal
  encoding.dispatch("zero_upper", {a}, matrixParams(n, n), n, n);
  encoding.afterwards([&gpu, kept, outcome, n, stride] { checkMps(gpu.cpu(), kept, outcome, n, stride); });
  encoding.worked(factorSeconds(n));
}

}  // namespace covarium::metal
