#pragma once

#include <pthread.h>

#include <condition_variable>
#include <mutex>

namespace covarium::cpu {

// A std::condition_variable whose wait() is the system's own: the C++ library's has another version from GCC 12 on, and
// a prebuilt addon that asks for it does not load on systems of the same glibc and an older library (RHEL 9, Amazon
// Linux 2023).
class Condition {
 public:
  template <typename Predicate>
  void wait(std::unique_lock<std::mutex>& lock, Predicate isMet) {
    while (!isMet()) pthread_cond_wait(condition_.native_handle(), lock.mutex()->native_handle());
  }

  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace covarium::cpu
