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

// Whatever fails (no memory on the GPU, a driver that is broken) leaves the choice of another device.
std::shared_ptr<Device> open(const OpenOptions& options) {
  try {
    return openGpu(options);
  } catch (const std::exception& failure) {
    throw Failure("ERR_DEVICE_UNAVAILABLE", failure.what());
  }
}

}  // namespace covarium::cuda
