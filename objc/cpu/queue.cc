#include "queue.h"

#include <algorithm>
#include <utility>

#include "spin.h"

namespace covarium::cpu {

void Queue::submit(const void* owner, std::function<void()> work) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });  // may throw: then nothing was submitted
    waiting_.push_back({owner, std::move(work)});
    ++arrivals_;
  }
  changed_.notify_all();
}

std::function<void()> Queue::withdraw(const void* owner) {
  std::function<void()> work;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found =
        std::find_if(waiting_.begin(), waiting_.end(), [owner](const Waiting& each) { return each.owner == owner; });
    if (found == waiting_.end()) return work;
    work = std::move(found->work);
    waiting_.erase(found);
  }
  changed_.notify_all();  // a caller in runHere may have waited for it
  return work;
}

void Queue::runHere(const std::function<void()>& work) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++callers_;
  changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
  busy_ = true;
  lock.unlock();
  work();
  lock.lock();
  busy_ = false;
  // Otherwise the queue's thread would wake for nothing, which takes longer than a small commit.
  const bool isAwaited = --callers_ > 0 || !waiting_.empty();
  lock.unlock();
  if (isAwaited) changed_.notify_all();
}

bool Queue::isIdle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return waiting_.empty() && !busy_;
}

void Queue::close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
    ++arrivals_;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Queue::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return (!waiting_.empty() && !busy_) || (ending_ && waiting_.empty()); });
    if (waiting_.empty()) return;
    auto work = std::move(waiting_.front().work);
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    work();
    work = nullptr;  // its buffers are free before the next commit runs
    lock.lock();
    busy_ = false;
    changed_.notify_all();
    if (!spins_ || !waiting_.empty()) continue;
    const unsigned seen = arrivals_;
    lock.unlock();
    spinUntil([&] { return arrivals_ != seen; });
    lock.lock();
  }
}

}  // namespace covarium::cpu
