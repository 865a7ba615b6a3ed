// The threads of one threadgroup, seen from a kernel: the launcher (objc/cpu/launch.cc) implements these.
#pragma once

#if !defined(COVARIUM_HAS_TYPES)  // a user's kernel brings its own (library/wrapper.h)
#include <cstdint>
#include <cstring>
#endif

namespace covarium {

constexpr unsigned widestSimdgroup = 64;  // Apple's are 32 wide, those of an Intel Mac's AMD GPU 64

// What the lanes of a simdgroup gave to one exchange; valid until this lane's next exchange but one.
struct SimdLanes {
  const uint64_t* bits;
  uint64_t activeMask;
  unsigned lanes;
  bool active(unsigned lane) const { return (activeMask >> lane) & 1; }
};

// Waits for the simdgroup; each lane gives one value.
SimdLanes simd_exchange_bits(uint64_t bits);
unsigned simd_lane();
// Waits for the threadgroup.
void threadgroup_barrier();

template <typename T>
struct SimdValues : SimdLanes {
  T operator[](unsigned lane) const {
    T value;
    memcpy(&value, &bits[lane], sizeof value);
    return value;
  }
};

template <typename T>
static inline SimdValues<T> simd_exchange(T value) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "a lane exchanges at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return {simd_exchange_bits(bits)};
}

}  // namespace covarium
