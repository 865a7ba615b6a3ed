#include "command-buffer.h"

#include <Block.h>

#include "blit-encoder.h"
#include "compute-encoder.h"
#include "device.h"
#include "ledger.h"
#include "settings.h"

using softmetal::Call;

SoftCommandBuffer::~SoftCommandBuffer() {
  for (const auto handler : scheduledHandlers) Block_release(handler);
  for (const auto handler : completedHandlers) Block_release(handler);
  // A buffer that has run has given its place back already.
  if (!isCommitted()) queue.get()->state_->giveBack();
}

void SoftCommandBuffer::uses(id<MTLBuffer> buffer, const Call& call) {
  SoftBuffer& state = softmetal::bufferOf(buffer, call);
  softmetal::checkSameDevice(queue.get()->state_->device.get(), state.device.get(), "buffer", call);
  buffers.insert(&state);
  pass().resources.insert(&state);
  keeps(buffer);
}

namespace softmetal {

id<MTLCommandBuffer> commandBufferOf(SoftMetalQueue* queue, bool retains, MTLCommandBufferErrorOption options,
                                     const Call& call) {
  if (isOn("commandBufferFails")) return nil;
  queue->state_->take(call);
  SoftMetalCommandBuffer* buffer = [SoftMetalCommandBuffer alloc];
  buffer->state_ = new SoftCommandBuffer;
  buffer->state_->queue = Ref<SoftMetalQueue*>(queue);
  buffer->state_->retains = retains;
  if (!retains) count("unretainedCommandBuffers");
  buffer->state_->errorOptions = options;
  return [buffer autorelease];
}

SoftCommandBuffer& recording(id<MTLCommandBuffer> buffer, const Call& call) {
  if (buffer == nil) call.refuse("is given a nil command buffer.");
  SoftCommandBuffer& state = used(static_cast<SoftMetalCommandBuffer*>(buffer)->state_, call);
  if (state.isCommitted()) call.refuse("records into a command buffer that is committed.");
  if (state.openEncoder != nullptr) call.refuse("is called while an %s is open.", state.openEncoder);
  return state;
}

}  // namespace softmetal

@implementation SoftMetalCommandBuffer
SOFT_LIFETIME("MTLCommandBuffer")
SOFT_LABEL("MTLCommandBuffer")
- (id<MTLDevice>)device {
  return used(state_, Call{"MTLCommandBuffer", _cmd}).queue.get()->state_->device.get();
}
- (id<MTLCommandQueue>)commandQueue {
  return used(state_, Call{"MTLCommandBuffer", _cmd}).queue.get();
}
- (BOOL)retainedReferences {
  return used(state_, Call{"MTLCommandBuffer", _cmd}).retains;
}
- (MTLCommandBufferErrorOption)errorOptions {
  return used(state_, Call{"MTLCommandBuffer", _cmd}).errorOptions;
}
- (CFTimeInterval)seconds:(double SoftCommandBuffer::*)time call:(const Call&)call {
  const SoftCommandBuffer& buffer = used(state_, call);
  std::lock_guard<std::mutex> lock(buffer.mutex);
  return buffer.*time;
}
- (CFTimeInterval)kernelStartTime {
  return [self seconds:&SoftCommandBuffer::kernelStart call:Call{"MTLCommandBuffer", _cmd}];
}
- (CFTimeInterval)kernelEndTime {
  return [self seconds:&SoftCommandBuffer::kernelEnd call:Call{"MTLCommandBuffer", _cmd}];
}
- (CFTimeInterval)GPUStartTime {
  return [self seconds:&SoftCommandBuffer::gpuStart call:Call{"MTLCommandBuffer", _cmd}];
}
- (CFTimeInterval)GPUEndTime {
  return [self seconds:&SoftCommandBuffer::gpuEnd call:Call{"MTLCommandBuffer", _cmd}];
}
- (MTLCommandBufferStatus)status {
  softmetal::count("statusReads");
  const SoftCommandBuffer& buffer = used(state_, Call{"MTLCommandBuffer", _cmd});
  std::lock_guard<std::mutex> lock(buffer.mutex);
  return buffer.status;
}
- (NSError*)error {
  const SoftCommandBuffer& buffer = used(state_, Call{"MTLCommandBuffer", _cmd});
  std::lock_guard<std::mutex> lock(buffer.mutex);
  return buffer.error.get();
}

- (void)enqueue {
  const Call call{"MTLCommandBuffer", _cmd};
  SoftCommandBuffer& buffer = used(state_, call);
  if ([self status] != MTLCommandBufferStatusNotEnqueued) call.refuse("is called twice, or after commit.");
  buffer.reach(MTLCommandBufferStatusEnqueued);
  buffer.queue.get()->state_->line->enqueue(self);
}

- (void)commit {
  const Call call{"MTLCommandBuffer", _cmd};
  SoftCommandBuffer& buffer = used(state_, call);
  if (buffer.isCommitted()) call.refuse("is called twice.");
  if (buffer.openEncoder != nullptr) call.refuse("is called while an %s is open.", buffer.openEncoder);
  if (softmetal::isTurn("commandBufferErrorAt"))
    buffer.fault = static_cast<MTLCommandBufferError>(softmetal::number("commandBufferError"));
  for (SoftBuffer* used : buffer.buffers) ++used->inFlight;
  softmetal::count("commits");
  buffer.reach(MTLCommandBufferStatusCommitted);
  buffer.queue.get()->state_->line->commit(self);
}

- (void)addScheduledHandler:(MTLCommandBufferHandler)block {
  const Call call{"MTLCommandBuffer", _cmd};
  SoftCommandBuffer& buffer = used(state_, call);
  if (block == nil) call.refuse("is given a nil block.");
  if (buffer.isCommitted()) call.refuse("is called after commit.");
  buffer.scheduledHandlers.push_back(Block_copy(block));
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  const Call call{"MTLCommandBuffer", _cmd};
  SoftCommandBuffer& buffer = used(state_, call);
  if (block == nil) call.refuse("is given a nil block.");
  if (buffer.isCommitted()) call.refuse("is called after commit.");
  softmetal::count("completedHandlers");
  buffer.completedHandlers.push_back(Block_copy(block));
}

- (void)waitFor:(MTLCommandBufferStatus)status call:(const Call&)call {
  SoftCommandBuffer& buffer = used(state_, call);
  if (!buffer.isCommitted()) call.refuse("is called before commit.");
  std::unique_lock<std::mutex> lock(buffer.mutex);
  buffer.changed.wait(lock, [&] { return buffer.status >= status; });
}
- (void)waitUntilScheduled {
  [self waitFor:MTLCommandBufferStatusScheduled call:Call{"MTLCommandBuffer", _cmd}];
}
- (void)waitUntilCompleted {
  softmetal::count("waits");
  [self waitFor:MTLCommandBufferStatusCompleted call:Call{"MTLCommandBuffer", _cmd}];
}

- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  return softmetal::blitEncoderOf(self, Call{"MTLCommandBuffer", _cmd});
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  return softmetal::computeEncoderOf(self, MTLDispatchTypeSerial, Call{"MTLCommandBuffer", _cmd});
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)dispatchType {
  return softmetal::computeEncoderOf(self, dispatchType, Call{"MTLCommandBuffer", _cmd});
}

- (void)pushDebugGroup:(NSString*)string {
  const Call call{"MTLCommandBuffer", _cmd};
  if (string == nil) call.refuse("is given a nil string.");
  ++softmetal::recording(self, call).debugGroups;
}
- (void)popDebugGroup {
  const Call call{"MTLCommandBuffer", _cmd};
  if (--softmetal::recording(self, call).debugGroups < 0) call.refuse("is called without a pushDebugGroup:.");
}
@end
