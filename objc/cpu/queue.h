#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "condition.h"

namespace covarium::cpu {

// The one queue of a device: work runs in the order it came, either on the queue's own thread or, for a caller who
// wants to wait anyway, on the caller's.
class Queue {
 public:
  // A queue that spins waits a moment for more work before its thread sleeps (spin.h). This needs spare processors,
  // since one of them waits with it.
  explicit Queue(bool spins) : spins_(spins) {}
  ~Queue() { close(); }
  // `owner` names the work until it begins; it submits no other work meanwhile.
  void submit(const void* owner, std::function<void()> work);
  // Takes the work of `owner` out of the queue, for the caller to run or drop; empty once it has begun.
  std::function<void()> withdraw(const void* owner);
  // Runs `work` here, after all that was submitted before.
  void runHere(const std::function<void()>& work);
  bool isIdle() const;
  // Runs what is left, then ends the thread. Idempotent.
  void close();

 private:
  struct Waiting {
    const void* owner;
    std::function<void()> work;
  };
  void serve();

  const bool spins_;
  std::atomic<unsigned> arrivals_{0};  // of work, and of the end
  mutable std::mutex mutex_;
  Condition changed_;
  std::deque<Waiting> waiting_;
  bool busy_ = false;
  unsigned callers_ = 0;  // in runHere
  bool ending_ = false;
  std::thread thread_;  // started by the first submit
};

}  // namespace covarium::cpu
