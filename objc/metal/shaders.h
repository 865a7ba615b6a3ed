#pragma once

#import <Metal/Metal.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "owned.h"

namespace covarium::metal {

// A kernel of msl/, ready to be dispatched, and what its reflection says of its arguments.
struct Pipeline {
  std::string name;
  Owned<id<MTLComputePipelineState>> state;
  unsigned buffers = 0;  // at indices 0 to buffers - 1; the params follow
  size_t paramsBytes = 0;
  bool hasThreadgroupMemory = false;  // at index 0
};

// The shaders of msl/, embedded as Apple's compiler has compiled them, or as one text, which is compiled once for
// each device. Pipelines are made at their first use, and their addresses stay valid. Any thread may call: launch()
// checks a kernel while the queue's thread encodes.
class Shaders {
 public:
  // Throws ERR_DEVICE_UNAVAILABLE with the compiler's text.
  explicit Shaders(id<MTLDevice> device);
  // Throws ERR_INVALID_ARGUMENT, with the names of all kernels, for a kernel that is unknown; ERR_CLOSED after
  // close(). The recording thread may call it while another thread encodes.
  const Pipeline& pipeline(const std::string& name);
  // Releases the pipelines and the library.
  void close();

 private:
  id<MTLDevice> device_;
  Owned<id<MTLLibrary>> library_;
  std::mutex mutex_;
  std::map<std::string, Pipeline> pipelines_;
};

}  // namespace covarium::metal
