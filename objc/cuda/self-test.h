#pragma once

#include <string>

#include "../device.h"

namespace covarium::cuda {

// How the GPU's normals or draws differ from the CPU's; '' if the bits are the same, as they must be. A GPU that has
// passed in this process, known by its UUID, is not tested again.
std::string selfTest(const std::string& uuid, Device& gpu, Device& cpu);

}  // namespace covarium::cuda
