// What the words of the Metal Shading Language mean to a C++ compiler, for a user's kernel that is compiled at run
// time. Include it in a namespace of the kernel's own, after wrapper.h: the standard headers come before its words.
#pragma once

using uint = uint32_t;
using ushort = uint16_t;
using uchar = uint8_t;
using ulong = uint64_t;

#include "short-vector.h"
#include "matrix.h"

template <typename To, typename From>
static inline To as_type(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
  To to;
  memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof to);
  return to;
}

namespace metal {

// Types are known under both names.
using uint = uint32_t;
using ushort = uint16_t;
using uchar = uint8_t;
using ulong = uint64_t;
template <typename T, int n>
using vec = ShortVector<T, n>;
template <typename T, int n>
using packed_vec = PackedVector<T, n>;

#include "numbers.h"
#include "mathematics.h"
#include "integers.h"
#include "floats.h"
// Those of the device: msl/cuda has its own.
#include <library/atomic.h>
#include <library/simdgroup.h>

}  // namespace metal

#define kernel static inline
#define device
#define constant const
#define thread
#define threadgroup
#define METAL_FUNC static inline
#define __METAL_VERSION__ 300
