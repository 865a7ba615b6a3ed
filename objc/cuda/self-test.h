#pragma once

#include <string>

#include "../device.h"

namespace covarium::cuda {

// How the GPU's normals or draws differ from the CPU's, whose bits they must have; '' where they don't. A GPU that has
// passed in this process, known by its UUID, is not tried again.
std::string selfTest(const std::string& uuid, Device& gpu, Device& cpu);

}  // namespace covarium::cuda
