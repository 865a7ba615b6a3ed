#pragma once

#include <chrono>

namespace covarium::cpu {

// Waits for isMet() for some 100 us at most, without sleeping: to wake a thread that sleeps takes about half of that,
// longer than many commands take. True if it was met.
template <typename Predicate>
bool spinUntil(const Predicate& isMet) {
  const auto tired = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
  for (unsigned spins = 1; !isMet(); ++spins) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
    if (spins % 64 == 0 && std::chrono::steady_clock::now() > tired) return false;
  }
  return true;
}

}  // namespace covarium::cpu
