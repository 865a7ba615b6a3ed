#pragma once

#include <atomic>

#include "../failure.h"
#include "blas.h"
#include "simd/kernels.h"
#include "pool.h"

namespace covarium::cpu {

// What a command runs with: the threads, the kernels, the library, and whether it is still wanted.
struct Execution {
  Pool& pool;
  const KernelTable& kernels;
  const Blas& blas;
  const std::atomic<bool>& cancelled;  // this commit
  const std::atomic<bool>& closing;    // the device

  bool isCancelled() const {
    return cancelled.load(std::memory_order_relaxed) || closing.load(std::memory_order_relaxed);
  }
  // Called between blocks of work.
  void stopIfCancelled() const {
    if (!isCancelled()) return;
    throw Failure("ERR_ABORTED", "The commit is cancelled before it has ended.");
  }
};

}  // namespace covarium::cpu
