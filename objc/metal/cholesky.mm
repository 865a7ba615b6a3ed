#include "cholesky.h"

#include <cmath>
#include <vector>

#include "gpu.h"
#include "../gpu/params.h"
#include "rows.h"

namespace covarium::metal {

namespace {

// Throws with the pivot if the CPU refuses the matrix, too.
void factorOnCpu(Device& cpu, const float* a, size_t n, size_t stride) {
  std::vector<float> dense(n * n);
  for (size_t i = 0; i < n; ++i) std::copy_n(a + i * stride, n, &dense[i * n]);
  const auto commands = cpu.commandBuffer();
  commands->cholesky({cpu.borrow(dense.data(), dense.size() * sizeof(float)), 0, n * n, Dtype::float32}, n,
                     FactorOn::cpu);
  commands->commitAndWait();
}

void check(Device& cpu, const View& kept, const View& outcome, size_t n, size_t stride) {
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

// MPS overwrites what it factors even where it fails, and may write above the diagonal.
void cholesky(Encoding& encoding, View a, size_t n) {
  Gpu& gpu = encoding.gpu();
  const size_t stride = Mps::strideFor(n);
  const View kept = encoding.scratch(n * stride), outcome = encoding.readable(4 + n);
  *static_cast<int32_t*>(outcome.buffer->contents()) = MPSMatrixDecompositionStatusFailure;  // until MPS says more
  gpu.mps().copy(encoding, {a, n, n, n}, {kept, n, n, stride});
  gpu.mps().cholesky(encoding, {kept, n, n, stride}, {a, n, n, n}, outcome);
  gpu.mps().copy(encoding, {a, n, 1, n + 1}, {outcome.from(4), n, 1, 1});  // the diagonal
  const MatrixParams params = {static_cast<uint>(n), static_cast<uint>(n)};
  encoding.dispatch("zero_upper", {a}, params, n, n);
  encoding.afterwards([&gpu, kept, outcome, n, stride] { check(gpu.cpu(), kept, outcome, n, stride); });
  encoding.worked(factorSeconds(n));
}

}  // namespace covarium::metal
