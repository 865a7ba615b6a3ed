#pragma once

#include "../device.h"

namespace covarium::cuda {

// What listDevices() says of a GPU that works; throws ERR_DEVICE_UNAVAILABLE with the reason of one that doesn't.
Candidate describe(const OpenOptions& options);

}  // namespace covarium::cuda
