#pragma once

#include <string>

#include "../device.h"

namespace covarium::cuda {

// How the GPU's normals or draws differ from the CPU's; '' if the bits are the same, as they must be. Which GPU with
// which kernels has passed in this process is not tested again.
std::string selfTest(const std::string& which, Device& gpu, Device& cpu);

}  // namespace covarium::cuda
