// Plain C++: with GNUstep a catch inside of Objective-C++ ends the process (test/metal/softmetal).
#include "queue.h"

#include <algorithm>

namespace covarium::gpu {

namespace {

// A Metal queue blocks its caller beyond 64 command buffers in flight.
constexpr unsigned mostInFlight = 32;

double millisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void runParts(const Commit& commit, Timings& timings) {
  for (const auto& part : commit.parts) {
    commit.stopIfCancelled();
    timings.deviceMs += part->run();
    timings.encodeMs += part->encodeMs();
  }
  commit.stopIfCancelled();
  timings.library = commit.library;
  // Some parts choose where they run only when they run.
  timings.onGpu = commit.onGpu;
  timings.onCpu = commit.onCpu;
}

}  // namespace

void Queue::submit(std::shared_ptr<Commit> commit, double encodeMs, Completion done) {
  const auto work = std::make_shared<Work>(
      Work{commit, {encodeMs, 0, 0, commit->factor, commit->onGpu, commit->onCpu, ""}, Clock::now(), std::move(done)});
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool atOnce = commit->isShort() && waiting_.empty() && !busy_ && inFlight_ < mostInFlight;
    if (!atOnce && !thread_.joinable()) thread_ = std::thread([this] { serve(); });
    outstanding_.insert(std::move(commit));
    if (!atOnce) {
      waiting_.push_back(work);
      lock.unlock();
      changed_.notify_all();
      return;
    }
    ++inFlight_;
  }
  start(work);
}

void Queue::start(const std::shared_ptr<Work>& work) {
  try {
    work->commit->stopIfCancelled();
    work->commit->parts[0]->start([this, work](const Part::Outcome& outcome) {
      std::exception_ptr failure;
      try {
        work->timings.deviceMs = outcome();
        work->timings.encodeMs += work->commit->parts[0]->encodeMs();
        work->commit->stopIfCancelled();
      } catch (...) {
        failure = std::current_exception();
      }
      end(*work, failure);
      // Nothing of the queue is touched after this: close() may be waiting for it.
      std::lock_guard<std::mutex> lock(mutex_);
      --inFlight_;
      changed_.notify_all();
    });
  } catch (...) {
    const auto failure = std::current_exception();
    end(*work, failure);
    std::lock_guard<std::mutex> lock(mutex_);
    --inFlight_;
    changed_.notify_all();
  }
}

void Queue::cancel(Commit& commit) {
  commit.cancel();
  std::shared_ptr<Work> work;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&commit](const auto& each) { return each->commit.get() == &commit; });
    if (found == waiting_.end()) return;
    work = std::move(*found);
    waiting_.erase(found);
  }
  changed_.notify_all();  // a caller in runHere may have waited for it
  run(*work);             // it only tells of its end
}

void Queue::run(Work& work) {
  std::exception_ptr failure;
  try {
    runParts(*work.commit, work.timings);
  } catch (...) {
    failure = std::current_exception();
  }
  end(work, failure);
}

// The buffers are released before anyone is told of the end.
void Queue::end(Work& work, std::exception_ptr failure) {
  work.commit->release();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    outstanding_.erase(work.commit);
  }
  work.timings.wallMs = millisecondsSince(work.committed);
  work.done(work.timings, failure);
}

Timings Queue::runHere(const std::shared_ptr<Commit>& commit, double encodeMs) {
  const auto committed = Clock::now();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    // Short work needs only its turn: the GPU keeps the order.
    changed_.wait(lock, [&] {
      return waiting_.empty() && !busy_ && (inFlight_ == 0 || (commit->isShort() && inFlight_ < mostInFlight));
    });
    busy_ = true;
  }
  Timings timings = {encodeMs, 0, 0, commit->factor, commit->onGpu, commit->onCpu, ""};
  std::exception_ptr failure;
  try {
    runParts(*commit, timings);
  } catch (...) {
    failure = std::current_exception();
  }
  commit->release();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    busy_ = false;
  }
  changed_.notify_all();
  if (failure) std::rethrow_exception(failure);
  timings.wallMs = millisecondsSince(committed);
  return timings;
}

void Queue::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  bool isShort = false;
  while (true) {
    changed_.wait(lock, [&] {
      if (waiting_.empty()) return ending_;
      isShort = waiting_.front()->commit->isShort();
      return !busy_ && inFlight_ < (isShort ? mostInFlight : 1);
    });
    if (waiting_.empty()) return;
    std::shared_ptr<Work> work = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    if (isShort) ++inFlight_;
    lock.unlock();
    if (isShort) {
      start(work);
    } else {
      run(*work);
    }
    work = nullptr;
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void Queue::close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
    for (const auto& commit : outstanding_) commit->cancel();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return inFlight_ == 0; });
}

}  // namespace covarium::gpu
