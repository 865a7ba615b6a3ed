#include "mirror.h"

namespace covarium::cuda {

void Mirror::fetch() {
  if (!isKept_) return;
  std::lock_guard<std::mutex> lock(fetching_);
  if (!isKept_) return;
  if (copy != nullptr) gpu_->download(contents(), copy->address(), sizeBytes());
  if (!isSettled_) copy = nullptr;
  isKept_ = false;
}

}  // namespace covarium::cuda
