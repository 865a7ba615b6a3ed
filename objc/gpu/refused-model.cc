// Plain C++: with GNUstep a catch inside of Objective-C++ ends the process (test/metal/softmetal).
#include "refused-model.h"

namespace covarium::gpu {

void throwForModel(Device& cpu, float* matrix, size_t index, size_t n, double tolerance) {
  try {
    const auto commands = cpu.commandBuffer();
    commands->choleskyBatch({cpu.borrow(matrix, n * n * sizeof(float)), 0, n * n, Dtype::float32}, n, tolerance);
    commands->commitAndWait();
  } catch (Failure& failure) {
    failure.matrix = static_cast<int64_t>(index);
    throw;
  }
  throw Failure("ERR_DEVICE_FAILED",
                "The GPU refuses matrix (" + std::to_string(index) + ") of the batch, though the CPU can factor it.");
}

}  // namespace covarium::gpu
