#pragma once

#import <Metal/Metal.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "buffer.h"
#include "object.h"
#include "queue.h"

// What one encoder records, or one encoding of MPS, and the buffers and textures that its commands use.
struct SoftPass {
  std::vector<std::function<void()>> commands;
  std::set<const void*> resources;

  bool sharesWith(const SoftPass& other) const;
};

struct SoftCommandBuffer : softmetal::Counted {
  SoftCommandBuffer() : Counted("MTLCommandBuffer") {}
  ~SoftCommandBuffer() override;

  softmetal::Ref<SoftMetalQueue*> queue;
  softmetal::Ref<NSString*> label;
  bool retains = true;
  MTLCommandBufferErrorOption errorOptions = MTLCommandBufferErrorOptionNone;

  // Recorded by one thread, then run by the queue's.
  const char* openEncoder = nullptr;  // Apple's name of the encoder's class
  int debugGroups = 0;
  std::vector<SoftPass> passes;
  std::vector<softmetal::Ref<id>> kept;
  std::set<SoftBuffer*> buffers;
  std::vector<MTLCommandBufferHandler> scheduledHandlers, completedHandlers;
  std::atomic<MTLCommandBufferError> fault{MTLCommandBufferErrorNone};

  // Seen by every thread.
  mutable std::mutex mutex;
  std::condition_variable changed;
  MTLCommandBufferStatus status = MTLCommandBufferStatusNotEnqueued;
  softmetal::Ref<NSError*> error;
  double kernelStart = 0, kernelEnd = 0, gpuStart = 0, gpuEnd = 0;  // seconds

  bool isCommitted() const {
    std::lock_guard<std::mutex> lock(mutex);
    return status >= MTLCommandBufferStatusCommitted;
  }
  void reach(MTLCommandBufferStatus next) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      status = next;
    }
    changed.notify_all();
  }
  SoftPass& pass() { return passes.back(); }
  // The command buffer lives until it has run.
  void uses(id<MTLBuffer> buffer, const softmetal::Call& call);
  void keeps(id object) {
    if (retains) kept.emplace_back(object);
  }
};

@interface SoftMetalCommandBuffer : NSObject <MTLCommandBuffer> {
 @public
  SoftCommandBuffer* state_;
}
@end

namespace softmetal {

// Autoreleased; nil if a fault is set.
id<MTLCommandBuffer> commandBufferOf(SoftMetalQueue* queue, bool retains, MTLCommandBufferErrorOption options,
                                     const Call& call);

// The state of a command buffer that `call` records into. Refuses nil, one that is committed, and one with an open
// encoder.
SoftCommandBuffer& recording(id<MTLCommandBuffer> buffer, const Call& call);

// Called on the queue's thread, with several buffers if they may run side by side; they end in order.
void runToEnd(const std::vector<Ref<SoftMetalCommandBuffer*>>& buffers);

}  // namespace softmetal
