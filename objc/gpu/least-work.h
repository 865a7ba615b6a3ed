// Which commands are worth sending to a GPU.
#pragma once

#include "../device.h"

namespace covarium::gpu {

// The count of numbers from which on a command goes to the GPU: what the environment's variable says, or 65,536,
// about as many as the CPU makes while a commit travels to the GPU and back. The count is not measured, so that a
// program gives the same bits in every run. Throws ERR_OUT_OF_RANGE.
size_t leastWork(const char* variable);

// True if a result of this many numbers, which takes this many multiply-adds, reaches `least`.
inline bool isWorth(size_t numbers, double multiplyAdds, size_t least) {
  constexpr double ofANumber = 100;  // multiply-adds that take as long as making and copying one number
  return static_cast<double>(numbers) + multiplyAdds / ofANumber >= static_cast<double>(least);
}

}  // namespace covarium::gpu
