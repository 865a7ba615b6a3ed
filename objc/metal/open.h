#pragma once

#include "../device.h"

namespace covarium::metal {

// What listDevices() reports of a GPU that works; throws ERR_DEVICE_UNAVAILABLE with the reason if it doesn't.
Candidate describe(const OpenOptions& options);

}  // namespace covarium::metal
