// Plain C++: with GNUstep a catch inside of Objective-C++ ends the process (test/metal/softmetal).
#pragma once

#include <cstdlib>

#include "../device.h"

namespace covarium::gpu {

// What listDevices() reports of a kind: `describe` opens the default device and closes it again, because only a GPU
// that has done work is known to work.
inline Candidate candidateBy(Candidate (*describe)(const OpenOptions&), const char* kind, OpenOptions options = {}) {
  const char* gpu = getenv("COVARIUM_GPU");
  if (gpu != nullptr) options.gpu = gpu;
  try {
    return describe(options);
  } catch (const std::exception& failure) {
    Candidate none;
    none.name = kind;
    none.reason = failure.what();
    return none;
  }
}

}  // namespace covarium::gpu
