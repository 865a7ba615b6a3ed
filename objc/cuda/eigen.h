#pragma once

#include "part.h"

namespace covarium::cuda {

// Beyond, the library's workspace can't be counted in 31 bits.
constexpr size_t largestEigenOrder = 16384;

// The decomposition by NVIDIA's library, where the GPU has one when the commit runs: the library is loaded on the
// queue's thread, which takes too long for JavaScript's. Otherwise `onCpu` runs, which does the same, or throws
// ERR_UNSUPPORTED if it is null, where the CPU has no LAPACK either.
class EigenPart : public gpu::Part {
 public:
  EigenPart(std::shared_ptr<Gpu> gpu, gpu::Commit& commit, Operand a, Operand values, size_t n,
            std::unique_ptr<gpu::Part> onCpu);

  void start(std::function<void(const Outcome&)>) override;
  double run() override;
  void cancel() override {
    if (onCpu_ != nullptr) onCpu_->cancel();
  }

 private:
  std::shared_ptr<Gpu> gpu_;
  gpu::Commit& commit_;
  cuda::Part onGpu_;
  std::unique_ptr<gpu::Part> onCpu_;
};

}  // namespace covarium::cuda
