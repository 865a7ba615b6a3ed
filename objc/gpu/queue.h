#pragma once

#include <chrono>
#include <deque>
#include <set>
#include <thread>

#include "../cpu/condition.h"
#include "part.h"

namespace covarium::gpu {

// The one queue of a device. Short work for the GPU is committed at once, on the caller's thread: the GPU keeps the
// order. Everything else (commands of the CPU, host memory that is copied in and out, long work in slices) runs on the
// queue's own thread, which waits for the GPU where the order asks for it, so that neither the JavaScript thread nor
// libuv's pool does.
class Queue {
 public:
  using Completion = std::function<void(const Timings&, std::exception_ptr failure)>;

  ~Queue() { close(); }
  // `done` is called once, on a thread of the device. Throws what fails before anything is committed.
  void submit(std::shared_ptr<Commit> commit, double encodeMs, Completion done);
  // Runs a commit on this thread, after all earlier ones; throws what fails.
  Timings runHere(const std::shared_ptr<Commit>& commit, double encodeMs);
  // Stops a commit, which ends at once if it has not begun. Any thread may call it, at any time.
  void cancel(Commit& commit);
  // Cancels what is in flight and waits until it has ended. Idempotent.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  struct Work {
    std::shared_ptr<Commit> commit;
    Timings timings;
    Clock::time_point committed;
    Completion done;
  };

  void serve();
  // Starts a short commit; its completion ends the work.
  void start(const std::shared_ptr<Work>& work);
  void run(Work& work);
  void end(Work& work, std::exception_ptr failure);

  std::mutex mutex_;
  cpu::Condition changed_;
  std::deque<std::shared_ptr<Work>> waiting_;
  std::set<std::shared_ptr<Commit>> outstanding_;  // not ended, to be cancelled by close()
  unsigned inFlight_ = 0;                          // started and not ended
  bool busy_ = false;
  bool ending_ = false;
  std::thread thread_;  // started when it is first needed
};

}  // namespace covarium::gpu
