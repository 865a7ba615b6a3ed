// NVIDIA's compiler for texts at run time, libnvrtc.so, for users' own kernels. It is loaded if the user has it.
#pragma once

#include <string>
#include <vector>

namespace covarium::cuda {

// Name and version of NVRTC; '' if there is none. COVARIUM_NVRTC names its file, or "none".
std::string nvrtcName();

// PTX of a text in CUDA C++ for a GPU of this compute capability (90 for 9.0), or for the newest before it that the
// compiler knows. Throws ERR_KERNEL_COMPILE with what the compiler says.
std::string nvrtcPtx(const std::string& text, const std::vector<std::string>& folders, int capability);

}  // namespace covarium::cuda
