// The CUDA device on systems for which NVIDIA has no driver: it is never available.
#include "../device.h"

namespace covarium::cuda {

Candidate candidate(OpenOptions) {
  Candidate none;
  none.name = "CUDA";
  none.reason = "This build of covarium has no CUDA device: NVIDIA's driver is looked for on Linux alone.";
  return none;
}

std::shared_ptr<Device> open(const OpenOptions&) {
  throw Failure("ERR_DEVICE_UNAVAILABLE", candidate(OpenOptions()).reason);
}

}  // namespace covarium::cuda
