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
  std::vector<std::pair<std::string, size_t>> members;  // of a struct, each with its offset in bytes
};

std::vector<Binding> bindingsOf(MTLComputePipelineReflection* reflection);

// The parameters with the compiler's sizes and members, where the compiler reports them: it may leave out what a
// kernel doesn't use. Throws ERR_UNSUPPORTED, with both descriptions, if an argument differs from what was read in
// the text. Otherwise it would be bound where the kernel doesn't look for it, or what the kernel writes would be
// lost.
std::vector<KernelParameter> matched(const std::string& kernel, std::vector<KernelParameter> parameters,
                                     const std::vector<Binding>& bindings);

}  // namespace covarium::metal
