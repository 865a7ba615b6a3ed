// A user's kernel on this GPU, and the cache of compiled kernels.
#pragma once

#import <Metal/Metal.h>

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../device.h"
#include "owned.h"
#include "reflection.h"

namespace covarium::metal {

// The compiled form of one text, function and set of constants, shared by the kernels and commands that use it.
struct CompiledKernel {
  ~CompiledKernel() {
    const AutoreleasePool pool;
    state = {};
  }
  const void* owner = nullptr;               // the cache that has compiled it
  Owned<id<MTLComputePipelineState>> state;  // none after the device is closed
  std::vector<Binding> bindings;
};

class MetalKernel : public Kernel {
 public:
  // Throws ERR_UNSUPPORTED if the compiler and the source's parameters disagree (reflection.h).
  MetalKernel(std::shared_ptr<const CompiledKernel> compiled, const KernelSource& source, id<MTLDevice> device);
  const std::shared_ptr<const CompiledKernel>& compiled() const { return compiled_; }
  // The buffer at this index must begin at a multiple of this many bytes.
  size_t alignmentBytes(uint32_t index) const;

 private:
  std::shared_ptr<const CompiledKernel> compiled_;
  size_t constantAlignmentBytes_;  // of a buffer in constant memory: more on GPUs that are not Apple's own
};

// The compiled kernels of a device, kept for reuse up to a limit. Any thread may call.
class KernelCache {
 public:
  explicit KernelCache(id<MTLDevice> device) : device_(device) {}
  // Takes as long as Metal's compiler does, unless the kernel is kept. Throws ERR_KERNEL_COMPILE with the compiler's
  // message, ERR_INVALID_ARGUMENT for a function or a constant that the text does not have, or ERR_CLOSED.
  std::shared_ptr<const Kernel> compile(const KernelSource& source);
  bool owns(const MetalKernel& kernel) const { return kernel.compiled()->owner == this; }
  // Releases all pipelines, also those of kernels that somebody still holds. Nothing may be in flight.
  void close();

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<CompiledKernel> compiled;
  };

  std::shared_ptr<CompiledKernel> known(const std::string& key);
  void keep(const std::string& key, const std::shared_ptr<CompiledKernel>& compiled);

  id<MTLDevice> device_;
  std::mutex mutex_;
  std::list<Entry> kept_;  // the latest in front
  size_t keptBytes_ = 0;   // of their keys
  std::vector<std::weak_ptr<CompiledKernel>> living_;
  bool closed_ = false;
};

}  // namespace covarium::metal
