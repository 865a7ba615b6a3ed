// A command buffer's way from commit to its completed handlers, on the thread of its queue.
#include <Block.h>

#include <chrono>
#include <thread>

#include "command-buffer.h"
#include "settings.h"

NSErrorDomain const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// In the words of Apple's drivers.
std::string descriptionOf(MTLCommandBufferError code) {
  switch (code) {
    case MTLCommandBufferErrorTimeout:
      return "Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)";
    case MTLCommandBufferErrorPageFault:
      return "Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)";
    case MTLCommandBufferErrorAccessRevoked:
      return "Ignored (for causing prior/excessive GPU errors) "
             "(00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)";
    case MTLCommandBufferErrorNotPermitted:
      return "Insufficient Permission (to submit GPU work from background) "
             "(00000006:kIOGPUCommandBufferCallbackErrorBackgroundExecutionNotPermitted)";
    case MTLCommandBufferErrorOutOfMemory:
      return "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)";
    case MTLCommandBufferErrorInvalidResource:
      return "Invalid Resource (00000009:kIOGPUCommandBufferCallbackErrorInvalidResource)";
    case MTLCommandBufferErrorDeviceRemoved:
      return "Device removed (0000000b:kIOGPUCommandBufferCallbackErrorDeviceRemoved)";
    case MTLCommandBufferErrorStackOverflow:
      return "Stack overflow (0000000c:kIOGPUCommandBufferCallbackErrorStackOverflow)";
    default:
      return "Internal Error (0000000e:Internal Error)";
  }
}

void call(std::vector<MTLCommandBufferHandler>& handlers, SoftMetalCommandBuffer* buffer) {
  std::vector<MTLCommandBufferHandler> taken;
  taken.swap(handlers);
  for (const auto handler : taken) {
    handler(buffer);
    Block_release(handler);
  }
}

}  // namespace

namespace softmetal {

void runToEnd(SoftMetalCommandBuffer* buffer) {
  SoftCommandBuffer& state = *buffer->state_;
  const double kernelStart = seconds();
  if (isOn("deviceRemoved")) state.fault = MTLCommandBufferErrorDeviceRemoved;
  SoftQueue& queue = *state.queue.get()->state_;
  if (queue.hasFailed && isOn("errorsStay")) state.fault = MTLCommandBufferErrorAccessRevoked;
  state.reach(MTLCommandBufferStatusScheduled);
  call(state.scheduledHandlers, buffer);
  const double kernelEnd = seconds();
  if (const int64_t delay = number("delayMs"); delay > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay));

  const double overlap = static_cast<double>(number("overlapMs")) * 1e-3;
  const double gpuStart = overlap > 0 && queue.lastEnd > 0 ? queue.lastEnd - overlap : seconds();
  // One that fails has done a part.
  const size_t done = state.fault == MTLCommandBufferErrorNone ? state.commands.size() : state.commands.size() / 2;
  for (size_t i = 0; i < done; ++i) state.commands[i]();
  const double gpuEnd = seconds();

  // Nothing is kept for the handlers' sake: who needs a buffer there holds it.
  for (SoftBuffer* used : state.buffers) --used->inFlight;
  state.buffers.clear();
  state.commands.clear();
  state.kept.clear();
  state.queue.get()->state_->giveBack();
  const bool failed = state.fault != MTLCommandBufferErrorNone;
  queue.hasFailed = queue.hasFailed || failed;
  queue.lastEnd = gpuEnd;
  Ref<NSError*> error;
  if (failed) {
    const auto code = static_cast<NSInteger>(state.fault);
    error = Ref<NSError*>(errorOf(MTLCommandBufferErrorDomain, code, descriptionOf(state.fault)));
  }
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    state.kernelStart = kernelStart;
    state.kernelEnd = kernelEnd;
    state.gpuStart = gpuStart;
    state.gpuEnd = gpuEnd;
    state.error = error;
  }
  // Who waits may go on before the handlers have run.
  state.reach(failed ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted);
  call(state.completedHandlers, buffer);
}

}  // namespace softmetal
