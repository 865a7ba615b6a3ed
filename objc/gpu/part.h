// The parts of a commit, in plain C++, so that the queue (queue.cc) can catch what they throw.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../device.h"

namespace covarium::gpu {

// Commands that run on the GPU, or on the CPU over the same bytes.
class Part {
 public:
  // Returns the milliseconds that the part ran; throws what failed.
  using Outcome = std::function<double()>;

  virtual ~Part() = default;
  // True if start() may be used: short work for the GPU alone, which may be committed while earlier commits are in
  // flight.
  virtual bool isShort() const { return false; }
  // Commits a short part without waiting; the function is then called on a thread of Metal. If something fails before
  // the commit, start() throws and the function is not called.
  virtual void start(std::function<void(const Outcome&)>) {
    throw Failure("ERR_INTERNAL", "Part of a commit is run, not started.");
  }
  // Runs the part before it returns.
  virtual double run() = 0;
  // Any thread may call it, at any time.
  virtual void cancel() {}
  // Milliseconds to encode its commands for the GPU, if they are not encoded while the part runs.
  double encodeMs() const { return encodeMs_; }

 protected:
  double encodeMs_ = 0;
};

// The commands recorded into a command buffer, until they have run.
class Commit {
 public:
  // Any thread may call it, at any time.
  void cancel() {
    std::lock_guard<std::mutex> lock(mutex_);
    cancelled_ = true;
    for (const auto& part : parts) part->cancel();
  }
  void stopIfCancelled() const {
    if (cancelled_) throw Failure("ERR_ABORTED", "The commit is cancelled before it has ended.");
  }
  bool isShort() const { return parts.size() == 1 && parts[0]->isShort(); }
  // Gives back what the commands held. Afterwards there is nothing to cancel.
  void release() {
    std::vector<std::unique_ptr<Part>> gone;
    std::lock_guard<std::mutex> lock(mutex_);
    gone.swap(parts);
  }

  std::vector<std::unique_ptr<Part>> parts;  // changed by the recording thread, until the commit; then by release()
  FactorOn factor = FactorOn::automatic;     // where the last one was made
  bool onGpu = false, onCpu = false;         // what kinds of parts there are, or were
  std::string library;                       // libraries of the GPU's maker that were used; added as the parts run

 private:
  std::mutex mutex_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace covarium::gpu
