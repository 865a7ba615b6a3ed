#pragma once

#include <string>

namespace covarium::cpu {

// The handle of a compiled kernel's library. Throws Failure ERR_UNSUPPORTED if the system maps no code from its
// folder, ERR_INTERNAL if the library is refused for another reason.
void* openLibrary(const std::string& kernel, const std::string& path);

}  // namespace covarium::cpu
