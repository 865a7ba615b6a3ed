#pragma once

#include <string>

namespace covarium::cpu {

// The handle of a compiled kernel's library. Throws Failure ERR_UNSUPPORTED where the system maps no code of its
// folder, ERR_INTERNAL where it is refused otherwise.
void* openLibrary(const std::string& kernel, const std::string& path);

}  // namespace covarium::cpu
