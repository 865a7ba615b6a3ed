#include "queue.h"

#include <chrono>

#include "command-buffer.h"
#include "settings.h"

using softmetal::Call;

namespace {

// Command buffers that are committed and not yet released, in the whole process.
struct Work {
  std::mutex mutex;
  std::condition_variable changed;
  int64_t underway = 0;

  void add(int64_t by) {
    std::lock_guard<std::mutex> lock(mutex);
    underway += by;
    changed.notify_all();
  }
};

Work& work() {
  static Work* one = new Work;
  return *one;
}

bool sharesNothing(SoftMetalCommandBuffer* buffer, const std::vector<softmetal::Ref<SoftMetalCommandBuffer*>>& before) {
  for (const auto& other : before)
    for (SoftBuffer* used : buffer->state_->buffers)
      if (other.get()->state_->buffers.count(used) != 0) return false;
  return true;
}

}  // namespace

namespace softmetal {

void Line::enqueue(SoftMetalCommandBuffer* buffer) {
  std::lock_guard<std::mutex> lock(mutex_);
  entries_.push_back({Ref<SoftMetalCommandBuffer*>(buffer), false});
}

void Line::commit(SoftMetalCommandBuffer* buffer) {
  work().add(1);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto entry = entries_.begin();
    while (entry != entries_.end() && entry->buffer.get() != buffer) ++entry;
    if (entry == entries_.end()) entry = entries_.insert(entry, {Ref<SoftMetalCommandBuffer*>(buffer), false});
    entry->committed = true;
  }
  changed_.notify_all();
}

void Line::end() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  // The thread itself may release the last reference, with the last command buffer.
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

void Line::serve() {
  while (true) {
    int64_t taken = 0;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return entries_.empty() ? ending_ : entries_.front().committed; });
      if (entries_.empty()) return;
    }
    @autoreleasepool {
      std::vector<Ref<SoftMetalCommandBuffer*>> buffers;
      {
        std::lock_guard<std::mutex> lock(mutex_);
        do {
          buffers.push_back(std::move(entries_.front().buffer));
          entries_.pop_front();
        } while (isOn("sideBySide") && !entries_.empty() && entries_.front().committed &&
                 sharesNothing(entries_.front().buffer.get(), buffers));
      }
      runToEnd(buffers);
      taken = static_cast<int64_t>(buffers.size());
    }
    work().add(-taken);
  }
}

bool settle() {
  std::unique_lock<std::mutex> lock(work().mutex);
  return work().changed.wait_for(lock, std::chrono::seconds(10), [] { return work().underway == 0; });
}

id<MTLCommandQueue> newQueue(id<MTLDevice> device, NSUInteger maximumCommandBuffers) {
  SoftMetalQueue* queue = [SoftMetalQueue alloc];
  queue->state_ = new SoftQueue;
  queue->state_->device = Ref<id<MTLDevice>>(device);
  queue->state_->maximum = maximumCommandBuffers;
  std::shared_ptr<Line> line = queue->state_->line;
  line->thread = std::thread([line] { line->serve(); });
  return queue;
}

}  // namespace softmetal

void SoftQueue::take(const Call& call) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!freed_.wait_for(lock, std::chrono::seconds(5), [this] { return taken_ < maximum; })) {
    std::lock_guard<std::mutex> busy(work().mutex);
    if (work().underway == 0)
      call.refuse("waits for one of (%zu) command buffers, none of which is committed.", size_t{maximum});
  }
  ++taken_;
}

void SoftQueue::giveBack() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    --taken_;
  }
  freed_.notify_one();
}

@implementation SoftMetalQueue
SOFT_LIFETIME("MTLCommandQueue")
SOFT_LABEL("MTLCommandQueue")
- (id<MTLDevice>)device {
  return used(state_, Call{"MTLCommandQueue", _cmd}).device.get();
}
- (id<MTLCommandBuffer>)commandBuffer {
  const Call call{"MTLCommandQueue", _cmd};
  used(state_, call);
  return softmetal::commandBufferOf(self, true, MTLCommandBufferErrorOptionNone, call);
}
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
  const Call call{"MTLCommandQueue", _cmd};
  used(state_, call);
  return softmetal::commandBufferOf(self, false, MTLCommandBufferErrorOptionNone, call);
}
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor*)descriptor {
  const Call call{"MTLCommandQueue", _cmd};
  used(state_, call);
  if (descriptor == nil) call.refuse("is given a nil descriptor.");
  return softmetal::commandBufferOf(self, [descriptor retainedReferences], [descriptor errorOptions], call);
}
@end
