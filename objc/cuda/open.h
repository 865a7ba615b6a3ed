#pragma once

#include "../device.h"

namespace covarium::cuda {

// As open() and candidate() of device.h, but they throw whatever fails.
std::shared_ptr<Device> openGpu(const OpenOptions& options);
Candidate describe(const OpenOptions& options);

}  // namespace covarium::cuda
