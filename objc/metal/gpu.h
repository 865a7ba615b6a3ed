#pragma once

#import <Metal/Metal.h>

#include <map>
#include <memory>
#include <string>

#include "../device.h"
#include "../gpu/routing.h"
#include "kernel.h"
#include "memory.h"
#include "mps.h"
#include "owned.h"
#include "shaders.h"

namespace covarium::metal {

// One opened GPU: what the commits of a device share. Commits are encoded by one thread at a time.
class Gpu {
 public:
  // Throws ERR_DEVICE_UNAVAILABLE with the reason.
  Gpu(Owned<id<MTLDevice>> device, std::shared_ptr<Device> cpu);

  id<MTLDevice> device() const { return device_.get(); }
  id<MTLCommandQueue> queue() const { return queue_.get(); }
  Memory& memory() const { return *memory_; }
  Shaders& shaders() { return shaders_; }
  KernelCache& kernels() { return kernels_; }
  Mps& mps() { return mps_; }
  // For commands that the CPU runs over the same bytes.
  Device& cpu() const { return *cpu_; }
  // Gives back everything but the buffers that are still open. Command buffers that are never committed may still
  // exist, but nothing may be in flight.
  void close();

  Routing routing{"COVARIUM_METAL_FROM"};
  // Kernels and MPS classes that failed their self-test, and why: never used.
  std::map<std::string, std::string> off;
  bool works(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (off.count(name) != 0) return false;
    return true;
  }

 private:
  Owned<id<MTLDevice>> device_;
  std::shared_ptr<Device> cpu_;
  Owned<id<MTLCommandQueue>> queue_;
  std::shared_ptr<Memory> memory_;
  Shaders shaders_;
  KernelCache kernels_;
  Mps mps_;
};

}  // namespace covarium::metal
