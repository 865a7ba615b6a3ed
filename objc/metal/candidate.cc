// Plain C++: with GNUstep a catch inside of Objective-C++ ends the process (test/metal/softmetal).
#include <cstdlib>

#include "open.h"

namespace covarium::metal {

// It is the device that openDevice('metal') opens, opened and closed again: there is no other way to know that a GPU
// works than to have it work.
Candidate candidate() {
  OpenOptions options;
  const char* gpu = getenv("COVARIUM_GPU");
  if (gpu != nullptr) options.gpu = gpu;
  try {
    return describe(options);
  } catch (const std::exception& failure) {
    Candidate none;
    none.name = "Metal";
    none.reason = failure.what();
    return none;
  }
}

}  // namespace covarium::metal
