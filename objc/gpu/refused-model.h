#pragma once

#include "../device.h"

namespace covarium::gpu {

// Throws what the CPU finds in `matrix` (n x n), matrix `index` of a batch, or ERR_DEVICE_FAILED if the CPU can
// factor what the GPU refused. The matrix is overwritten.
[[noreturn]] void throwForModel(Device& cpu, float* matrix, size_t index, size_t n, double tolerance);

}  // namespace covarium::gpu
