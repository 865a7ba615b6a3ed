#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "condition.h"
#include "float-mode.h"

namespace covarium::cpu {

// The threads that share the work of one command. The caller works too, so that a pool of one has no threads.
//
// A worker that has run out of work spins for a while before it sleeps (spin.h), and so does the caller that waits for
// workers. A job does not wait for sleeping threads: it is over when its tasks are.
class Pool {
 public:
  explicit Pool(unsigned threads);
  ~Pool();
  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  // Calls task(i, thread) for each i in [0, tasks), in any order, thread in [0, threads()); returns when all have
  // returned. The first exception is thrown again here. Where another device is using the pool the caller runs all
  // tasks alone.
  //
  // Every thread computes with subnormal numbers as the caller does.
  //
  // Thread i takes task i of the first threads(), unless it comes too late. So the next job over the same operands
  // finds each share in the cache of the core that had it before.
  using Task = std::function<void(size_t i, unsigned thread)>;
  void run(size_t tasks, const Task& task);

 private:
  void end();
  void work(unsigned thread);
  void take(const Task& task, size_t tasks, unsigned thread);
  bool claim(size_t own);
  void execute(const Task& task, size_t tasks, size_t i, unsigned thread);

  // A value that one thread writes while others read or write its neighbours has its own cache line: with 16 threads,
  // a shared line costs a job some microseconds.
  static constexpr size_t lineBytes = 64;
  struct alignas(lineBytes) Claim {
    std::atomic<bool> taken{false};
  };

  std::vector<std::thread> workers_;
  std::mutex running_;  // one job at a time

  const Task* task_ = nullptr;
  FloatMode mode_ = 0;  // the caller's
  size_t tasks_ = 0;
  std::vector<Claim> claimed_;                          // the tasks that are a thread's
  alignas(lineBytes) std::atomic<size_t> next_{0};      // of the tasks that no thread has taken
  alignas(lineBytes) std::atomic<uint64_t> open_{0};    // the number of the job that may be joined, 0 for none
  alignas(lineBytes) std::atomic<unsigned> inside_{0};  // workers that may be reading the fields above
  std::atomic<bool> isAwaited_{false};                  // the caller sleeps until they have left
  alignas(lineBytes) uint64_t jobs_ = 0;
  std::exception_ptr failure_;
  std::mutex failureMutex_;

  std::mutex sleep_;
  Condition wake_, over_;
  std::atomic<unsigned> sleepers_{0};
  std::atomic<bool> ending_{false};
};

}  // namespace covarium::cpu
