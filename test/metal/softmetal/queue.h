#pragma once

#import <Metal/Metal.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "object.h"

@class SoftMetalCommandBuffer;

namespace softmetal {

constexpr NSUInteger defaultCommandBufferCount = 64;  // Apple's

// The command buffers of one queue, and the thread that runs them in the order in which they were enqueued or
// committed.
class Line {
 public:
  void enqueue(SoftMetalCommandBuffer* buffer);
  void commit(SoftMetalCommandBuffer* buffer);
  // Ends the thread when the line is empty, waiting for it unless it is the caller.
  void end();
  void serve();

  std::thread thread;

 private:
  struct Entry {
    Ref<SoftMetalCommandBuffer*> buffer;
    bool committed;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  bool ending_ = false;
};

// Waits until every queue has run and released what is committed. False after ten seconds.
bool settle();

id<MTLCommandQueue> newQueue(id<MTLDevice> device, NSUInteger maximumCommandBuffers);

}  // namespace softmetal

struct SoftQueue : softmetal::Counted {
  SoftQueue() : Counted("MTLCommandQueue") {}
  ~SoftQueue() override { line->end(); }

  // Takes one of the command buffers that may exist at a time; blocks until one is free.
  void take(const softmetal::Call& call);
  void giveBack();

  softmetal::Ref<id<MTLDevice>> device;
  softmetal::Ref<NSString*> label;
  NSUInteger maximum = 0;
  // Used by the queue's thread only: whether a command buffer has failed, and when the last one ended on the GPU.
  bool hasFailed = false;
  double lastEnd = 0;
  std::shared_ptr<softmetal::Line> line = std::make_shared<softmetal::Line>();

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  NSUInteger taken_ = 0;
};

@interface SoftMetalQueue : NSObject <MTLCommandQueue> {
 @public
  SoftQueue* state_;
}
@end
