#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace covarium::cpu {

// How a thread computes with subnormal numbers (below 2^-126 in float32, 2^-1022 in float64). Each operation with one
// takes Intel's processors some 150 cycles, and a covariance like exp(-distance / 10) is full of them.
using FloatMode = uint64_t;

inline FloatMode floatMode() {
#if defined(__x86_64__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  FloatMode mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
#else
  return 0;
#endif
}

inline void setFloatMode(FloatMode mode) {
#if defined(__x86_64__)
  _mm_setcsr(static_cast<unsigned>(mode));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(mode));
#else
  (void)mode;
#endif
}

// x86: FTZ (results) and DAZ (operands); arm64: FZ (both).
#if defined(__x86_64__)
constexpr FloatMode flushBits = 0x8040;
#elif defined(__aarch64__)
constexpr FloatMode flushBits = FloatMode{1} << 24;
#else
constexpr FloatMode flushBits = 0;
#endif

// While it lives, the thread takes subnormal numbers for zeros, or keeps them; afterwards it computes as before. The
// thread may be JavaScript's, which keeps them.
class FloatModeScope {
 public:
  static FloatModeScope flushing() { return FloatModeScope(floatMode() | flushBits); }
  static FloatModeScope keeping() { return FloatModeScope(floatMode() & ~flushBits); }
  ~FloatModeScope() { setFloatMode(before_); }
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

 private:
  explicit FloatModeScope(FloatMode mode) : before_(floatMode()) { setFloatMode(mode); }
  const FloatMode before_;
};

}  // namespace covarium::cpu
