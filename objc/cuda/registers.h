#pragma once

#include <string>

namespace covarium::cuda {

// PTX of which msl/cuda/embed.mjs has coded the registers. Throws ERR_INTERNAL if the text is malformed.
std::string withRegisters(const std::string& coded);

}  // namespace covarium::cuda
