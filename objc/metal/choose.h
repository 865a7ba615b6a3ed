#pragma once

#import <Metal/Metal.h>

#include <string>
#include <utility>
#include <vector>

#include "owned.h"

namespace covarium::metal {

// The GPU of this name or registry id; the system's default for ''. Throws ERR_DEVICE_UNAVAILABLE with the names of
// all GPUs.
Owned<id<MTLDevice>> chooseGpu(const std::string& wanted);
// Name and registry id of every GPU.
std::vector<std::pair<std::string, std::string>> allGpus();

}  // namespace covarium::metal
