#pragma once

#include <map>
#include <string>

#include "../device.h"

namespace covarium::gpu {

// Adds to `off` what of `gpu` gives wrong results, by kernel or MPS class, and how: each command is run on a few
// numbers and compared with `cpu`. Some GPUs run kernels but not MPS, or give zeros (GitHub's virtual one). What is off
// already is not tried. Nothing is tried of a GPU that has passed in this process, known by its registry id; one that
// has failed is tried again, since it may have wanted memory, or time. Any thread may call. True if nothing was added.
// Of one that has passed in an earlier process the normals are tried alone: whether it still takes work.
bool selfTest(uint64_t registryId, Device& gpu, Device& cpu, std::map<std::string, std::string>& off, bool hasPassed);

}  // namespace covarium::gpu
