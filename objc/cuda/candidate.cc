#include "../gpu/candidate.h"

#include <utility>

#include "open.h"

namespace covarium::cuda {

Candidate candidate(OpenOptions options) { return gpu::candidateBy(describe, "CUDA", std::move(options)); }

// After any failure (no memory on the GPU, a broken driver) another device can be chosen.
std::shared_ptr<Device> open(const OpenOptions& options) {
  try {
    return openGpu(options);
  } catch (const std::exception& failure) {
    throw Failure("ERR_DEVICE_UNAVAILABLE", failure.what());
  }
}

}  // namespace covarium::cuda
