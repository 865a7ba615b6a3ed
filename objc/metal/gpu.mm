#include "gpu.h"

namespace covarium::metal {

Gpu::Gpu(Owned<id<MTLDevice>> device, std::shared_ptr<Device> cpu)
    : device_(std::move(device)),
      cpu_(std::move(cpu)),
      queue_(Owned<id<MTLCommandQueue>>::adopt([device_.get() newCommandQueue])),
      memory_(std::make_shared<Memory>(device_.get())),
      shaders_(device_.get()),
      kernels_(device_.get()),
      mps_(device_.get()) {
  if (!queue_) throw Failure("ERR_DEVICE_UNAVAILABLE", "The GPU gives no command queue.");
  [queue_.get() setLabel:@"covarium"];
}

void Gpu::close() {
  cpu_->close();
  memory_->close();
  shaders_.close();
  kernels_.close();
  mps_.close();
  queue_ = {};
  device_ = {};
}

}  // namespace covarium::metal
