#pragma once

#include <sys/types.h>  // uint

#include "../device.h"

namespace covarium::gpu {

#include "../../msl/params.h"

inline uint lowWord(uint64_t value) { return static_cast<uint>(value); }
inline uint highWord(uint64_t value) { return static_cast<uint>(value >> 32); }

inline MatrixParams matrixParams(size_t rows, size_t columns) {
  return {static_cast<uint>(rows), static_cast<uint>(columns)};
}

}  // namespace covarium::gpu
