// Runs a command buffer from its commit to its completed handlers, on the thread of its queue.
#include <Block.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "command-buffer.h"
#include "ledger.h"
#include "settings.h"

NSErrorDomain const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// As Apple's drivers word it.
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

void run(const SoftPass& pass) {
  for (const auto& command : pass.commands) command();
}

// Runs passes that share no resource at the same time.
void runTogether(const std::vector<const SoftPass*>& passes) {
  if (passes.size() > 1) softmetal::count("passesSideBySide", static_cast<int64_t>(passes.size()));
  std::vector<std::thread> threads;
  for (const SoftPass* pass : passes)
    threads.emplace_back([pass] {
      @autoreleasepool {
        run(*pass);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

void runSideBySide(const std::vector<const SoftPass*>& passes) {
  std::vector<const SoftPass*> together;
  for (const SoftPass* pass : passes) {
    for (const SoftPass* other : together) {
      if (!pass->sharesWith(*other)) continue;
      runTogether(together);
      together.clear();
      break;
    }
    together.push_back(pass);
  }
  runTogether(together);
}

// When a command buffer began, in seconds.
struct Times {
  double kernelStart = 0, kernelEnd = 0, gpuStart = 0;
};

Times begin(SoftMetalCommandBuffer* buffer) {
  using softmetal::isOn, softmetal::number;
  SoftCommandBuffer& state = *buffer->state_;
  Times times;
  times.kernelStart = seconds();
  if (isOn("deviceRemoved")) state.fault = MTLCommandBufferErrorDeviceRemoved;
  const SoftQueue& queue = *state.queue.get()->state_;
  if (queue.hasFailed && isOn("errorsStay")) state.fault = MTLCommandBufferErrorAccessRevoked;
  state.reach(MTLCommandBufferStatusScheduled);
  call(state.scheduledHandlers, buffer);
  times.kernelEnd = seconds();
  if (const int64_t delay = number("delayMs"); delay > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay));

  const double overlap = static_cast<double>(number("overlapMs")) * 1e-3;
  times.gpuStart = overlap > 0 && queue.lastEnd > 0 ? queue.lastEnd - overlap : seconds();
  if (state.fault == MTLCommandBufferErrorNone) return times;
  // A command buffer that fails has done a part of its work.
  size_t left = 0;
  for (const SoftPass& pass : state.passes) left += pass.commands.size();
  left /= 2;
  for (SoftPass& pass : state.passes) {
    pass.commands.resize(std::min(left, pass.commands.size()));
    left -= pass.commands.size();
  }
  return times;
}

void finish(SoftMetalCommandBuffer* buffer, const Times& times) {
  SoftCommandBuffer& state = *buffer->state_;
  SoftQueue& queue = *state.queue.get()->state_;
  const double gpuEnd = seconds();
  // Buffers are not kept for the handlers: a handler that needs one must hold it.
  for (SoftBuffer* used : state.buffers) --used->inFlight;
  state.buffers.clear();
  state.passes.clear();
  state.kept.clear();
  queue.giveBack();
  const MTLCommandBufferError fault = state.fault;
  const bool failed = fault != MTLCommandBufferErrorNone;
  queue.hasFailed = queue.hasFailed || failed;
  queue.lastEnd = gpuEnd;
  softmetal::Ref<NSError*> error;
  if (failed) {
    const auto code = static_cast<NSInteger>(fault);
    error = softmetal::Ref<NSError*>(softmetal::errorOf(MTLCommandBufferErrorDomain, code, descriptionOf(fault)));
  }
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    state.kernelStart = times.kernelStart;
    state.kernelEnd = times.kernelEnd;
    state.gpuStart = times.gpuStart;
    state.gpuEnd = gpuEnd;
    state.error = error;
  }
  // Waiting threads may go on before the handlers have run.
  state.reach(failed ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted);
  call(state.completedHandlers, buffer);
}

}  // namespace

bool SoftPass::sharesWith(const SoftPass& other) const {
  const auto isOthers = [&](const void* resource) { return other.resources.count(resource) != 0; };
  return std::any_of(resources.begin(), resources.end(), isOthers);
}

namespace softmetal {

void runToEnd(const std::vector<Ref<SoftMetalCommandBuffer*>>& buffers) {
  std::vector<Times> times;
  std::vector<const SoftPass*> passes;
  for (const auto& buffer : buffers) {
    times.push_back(begin(buffer.get()));
    for (const SoftPass& pass : buffer.get()->state_->passes) passes.push_back(&pass);
  }
  if (isOn("sideBySide")) {
    runSideBySide(passes);
  } else {
    for (const SoftPass* pass : passes) run(*pass);
  }
  for (size_t i = 0; i < buffers.size(); ++i) finish(buffers[i].get(), times[i]);
}

}  // namespace softmetal
