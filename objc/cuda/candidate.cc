#include <cstdlib>

#include "open.h"

namespace covarium::cuda {

// It is the device that openDevice('cuda') opens, opened and closed again: there is no other way to know that a GPU
// works than to have it work.
Candidate candidate() {
  OpenOptions options;
  const char* gpu = getenv("COVARIUM_GPU");
  if (gpu != nullptr) options.gpu = gpu;
  try {
    return describe(options);
  } catch (const std::exception& failure) {
    Candidate none;
    none.name = "CUDA";
    none.reason = failure.what();
    return none;
  }
}

}  // namespace covarium::cuda
