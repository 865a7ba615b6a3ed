#pragma once

#include "part.h"

namespace covarium::cuda {

// With more rows or columns the size of the library's workspace does not fit into 31 bits.
constexpr size_t largestDecomposition = 16384;

// A decomposition by NVIDIA's library, if the GPU has one when the commit runs: the queue's thread loads the library,
// because that takes too long for JavaScript's thread. Otherwise `onCpu` runs, which does the same. If the CPU has no
// LAPACK either, `onCpu` is null and the part throws ERR_UNSUPPORTED.
class DecompositionPart : public gpu::Part {
 public:
  DecompositionPart(std::shared_ptr<Gpu> gpu, gpu::Commit& commit, std::unique_ptr<gpu::Part> onCpu)
      : gpu_(gpu), commit_(commit), onGpu_(std::move(gpu), commit), onCpu_(std::move(onCpu)) {}
  // One of these, with the operands of Encoder's command in lib/backend.ts.
  void symmetricEigen(const Operand& a, const Operand& values, size_t n, bool vectors);
  void lq(const Operand& a, const Operand& q, size_t m, size_t n);
  void svd(const Operand& a, const Operand& u, const Operand& values, const Operand& v, size_t m, size_t n);

  double run() override;
  void cancel() override {
    if (onCpu_ != nullptr) onCpu_->cancel();
  }

 private:
  std::shared_ptr<Gpu> gpu_;
  gpu::Commit& commit_;
  cuda::Part onGpu_;
  std::unique_ptr<gpu::Part> onCpu_;
  struct Measured {
    Operand matrix;
    size_t n;  // of a row, whose numbers the library scales together
    bool isWidened;
  } measured_{};
};

}  // namespace covarium::cuda
