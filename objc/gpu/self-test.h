#pragma once

#include <map>
#include <string>

#include "../device.h"

namespace covarium::gpu {

// Runs each command on a few numbers and compares the results with `cpu`. Kernels and MPS classes of `gpu` that give
// wrong results are added to `off`, with the reason. Some GPUs run kernels but not MPS, or give zeros (GitHub's
// virtual one). What is off already is not tested. A GPU that has passed in this process, known by its registry id,
// is not tested again; one that has failed is, since it may have lacked memory or time. If the GPU has passed in an
// earlier process (`hasPassed`), only the normals are tested, to see whether it still takes work. Any thread may
// call. True if nothing was added.
bool selfTest(uint64_t registryId, Device& gpu, Device& cpu, std::map<std::string, std::string>& off, bool hasPassed);

}  // namespace covarium::gpu
