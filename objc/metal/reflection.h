#pragma once

#import <Metal/Metal.h>

#include <string>
#include <utility>
#include <vector>

#include "../device.h"

namespace covarium::metal {

// What the compiler says of one argument that a kernel uses.
struct Binding {
  enum class Table { buffers, threadgroup, textures, samplers, other } table;
  std::string name;
  uint32_t index;
  bool written;
  size_t sizeBytes, alignmentBytes;                     // of what a pointer points to
  std::vector<std::pair<std::string, size_t>> members;  // of a struct, with the bytes in front of each
};

std::vector<Binding> bindingsOf(MTLComputePipelineReflection* reflection);

// The parameters with the compiler's sizes and members, where it says them: what a kernel doesn't use may be left out.
// Throws ERR_UNSUPPORTED, with both sides, where an argument is another one than was read in the text: what is bound
// would go where the kernel doesn't look for it, or what it writes would be lost.
std::vector<KernelParameter> matched(const std::string& kernel, std::vector<KernelParameter> parameters,
                                     const std::vector<Binding>& bindings);

}  // namespace covarium::metal
