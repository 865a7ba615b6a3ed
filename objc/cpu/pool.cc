#include "pool.h"

#include <algorithm>

#include "spin.h"

namespace covarium::cpu {

Pool::Pool(unsigned threads) : claimed_(threads) {
  try {
    for (unsigned thread = 1; thread < threads; ++thread) workers_.emplace_back([this, thread] { work(thread); });
  } catch (...) {  // the system gives no more threads; those that run must end before their pool does
    end();
    throw;
  }
}

Pool::~Pool() { end(); }

void Pool::end() {
  {
    std::lock_guard<std::mutex> lock(sleep_);
    ending_ = true;
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

// Reads first: a write to a claimed flag would take the cache line from all other threads.
bool Pool::claim(size_t own) {
  std::atomic<bool>& taken = claimed_[own].taken;
  return !taken.load(std::memory_order_relaxed) && !taken.exchange(true);
}

void Pool::execute(const Task& task, size_t tasks, size_t i, unsigned thread) {
  try {
    task(i, thread);
  } catch (...) {
    std::lock_guard<std::mutex> lock(failureMutex_);
    if (!failure_) failure_ = std::current_exception();
    next_ = tasks;  // the rest would be for nothing
    for (auto& claimed : claimed_) claimed.taken = true;
  }
}

void Pool::take(const Task& task, size_t tasks, unsigned thread) {
  const size_t owned = std::min(tasks, claimed_.size());
  if (thread < owned && claim(thread)) execute(task, tasks, thread, thread);
  for (size_t i; (i = next_.fetch_add(1)) < tasks;) execute(task, tasks, i, thread);
  for (size_t i = 0; i < owned; ++i)
    if (claim(i)) execute(task, tasks, i, thread);
}

void Pool::run(size_t tasks, const Task& task) {
  std::unique_lock<std::mutex> running(running_, std::try_to_lock);
  if (workers_.empty() || tasks < 2 || !running.owns_lock()) {
    for (size_t i = 0; i < tasks; ++i) task(i, 0);
    return;
  }
  task_ = &task;
  mode_ = floatMode();
  tasks_ = tasks;
  next_ = claimed_.size();
  for (auto& claimed : claimed_) claimed.taken.store(false, std::memory_order_relaxed);  // open_ publishes it
  failure_ = nullptr;
  open_ = ++jobs_;
  if (sleepers_ != 0) {
    std::lock_guard<std::mutex> lock(sleep_);
    wake_.notify_all();
  }
  take(task, tasks, 0);
  // A worker counts as inside before it looks whether the job is open. So after this none comes in, and those inside
  // leave.
  open_ = 0;
  const auto isOver = [this] { return inside_ == 0; };
  if (!spinUntil(isOver)) {
    std::unique_lock<std::mutex> lock(sleep_);
    isAwaited_ = true;
    over_.wait(lock, isOver);
    isAwaited_ = false;
  }
  if (failure_) std::rethrow_exception(failure_);
}

void Pool::work(unsigned thread) {
  uint64_t done = 0;
  while (!ending_) {
    uint64_t job = 0;
    const auto isWanted = [&] { return ending_ || ((job = open_) != 0 && job != done); };
    if (!spinUntil(isWanted)) {
      std::unique_lock<std::mutex> lock(sleep_);
      ++sleepers_;
      wake_.wait(lock, isWanted);
      --sleepers_;
    }
    if (ending_) return;
    ++inside_;
    if (open_ == job) {
      setFloatMode(mode_);
      take(*task_, tasks_, thread);
    }
    // The caller sets isAwaited_ before it looks at inside_ again, so one of the two sees the other.
    if (--inside_ == 0 && isAwaited_) {
      std::lock_guard<std::mutex> lock(sleep_);
      over_.notify_all();
    }
    done = job;
  }
}

}  // namespace covarium::cpu
