// Which commands are worth a GPU's while.
#pragma once

#include "../device.h"

namespace covarium::gpu {

// The numbers from which on a command goes to the GPU: what the environment's variable says, or 65,536, about what the
// CPU makes while a commit travels to the GPU and back. It is no measurement, so that a program gives the same bits in
// every run. Throws ERR_OUT_OF_RANGE.
size_t leastWork(const char* variable);

// Whether a result of so many numbers, and so many multiply-adds, reaches it.
inline bool isWorth(size_t numbers, double multiplyAdds, size_t least) {
  constexpr double ofANumber = 100;  // multiply-adds that take as long as a number does that is made and copied
  return static_cast<double>(numbers) + multiplyAdds / ofANumber >= static_cast<double>(least);
}

}  // namespace covarium::gpu
