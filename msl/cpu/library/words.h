// What the words of the Metal Shading Language mean to a C++ compiler, for a user's kernel that is compiled at run
// time. Include it in the kernel's own namespace, after wrapper.h: the standard headers come before its words.
#pragma once

// Types are known under both names, with and without their namespace.
#define COVARIUM_VECTORS(name, T)                        \
  using name##2 = covarium::ShortVector<T, 2>;           \
  using name##3 = covarium::ShortVector<T, 3>;           \
  using name##4 = covarium::ShortVector<T, 4>;           \
  using packed_##name##2 = covarium::PackedVector<T, 2>; \
  using packed_##name##3 = covarium::PackedVector<T, 3>; \
  using packed_##name##4 = covarium::PackedVector<T, 4>;
#define COVARIUM_MATRICES(name, T)                   \
  using name##2x2 = covarium::ColumnMatrix<T, 2, 2>; \
  using name##2x3 = covarium::ColumnMatrix<T, 2, 3>; \
  using name##2x4 = covarium::ColumnMatrix<T, 2, 4>; \
  using name##3x2 = covarium::ColumnMatrix<T, 3, 2>; \
  using name##3x3 = covarium::ColumnMatrix<T, 3, 3>; \
  using name##3x4 = covarium::ColumnMatrix<T, 3, 4>; \
  using name##4x2 = covarium::ColumnMatrix<T, 4, 2>; \
  using name##4x3 = covarium::ColumnMatrix<T, 4, 3>; \
  using name##4x4 = covarium::ColumnMatrix<T, 4, 4>;
#define COVARIUM_TYPES                           \
  using uint = uint32_t;                         \
  using ushort = uint16_t;                       \
  using uchar = uint8_t;                         \
  using ulong = uint64_t;                        \
  using half = covarium::Half;                   \
  using bfloat = covarium::BrainFloat;           \
  COVARIUM_VECTORS(bool, bool)                   \
  COVARIUM_VECTORS(char, char)                   \
  COVARIUM_VECTORS(uchar, uint8_t)               \
  COVARIUM_VECTORS(short, short)                 \
  COVARIUM_VECTORS(ushort, uint16_t)             \
  COVARIUM_VECTORS(int, int)                     \
  COVARIUM_VECTORS(uint, uint32_t)               \
  COVARIUM_VECTORS(long, long)                   \
  COVARIUM_VECTORS(ulong, uint64_t)              \
  COVARIUM_VECTORS(half, covarium::Half)         \
  COVARIUM_VECTORS(bfloat, covarium::BrainFloat) \
  COVARIUM_VECTORS(float, float)                 \
  COVARIUM_MATRICES(float, float)                \
  COVARIUM_MATRICES(half, covarium::Half)
COVARIUM_TYPES

template <typename To, typename From>
static inline To as_type(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
  To to;
  memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof to);
  return to;
}

namespace metal {

COVARIUM_TYPES

using covarium::determinant;
using covarium::transpose;
template <typename T, int n>
using vec = covarium::ShortVector<T, n>;
template <typename T, int n>
using packed_vec = covarium::PackedVector<T, n>;
template <typename T, int columns, int rows>
using matrix = covarium::ColumnMatrix<T, columns, rows>;

#if !defined(COVARIUM_ON_GPU)
using ::std::initializer_list;
#endif
// What a tessellation kernel writes for each patch.
struct MTLQuadTessellationFactorsHalf {
  half edgeTessellationFactor[4], insideTessellationFactor[2];
};
struct MTLTriangleTessellationFactorsHalf {
  half edgeTessellationFactor[3], insideTessellationFactor;
};

#include "numbers.h"
#include "mathematics.h"
#include "integers.h"
#include "floats.h"
// The headers of the device: msl/cuda has its own.
#include <library/atomic.h>
#include <library/simdgroup.h>

}  // namespace metal

using metal::MTLQuadTessellationFactorsHalf;
using metal::MTLTriangleTessellationFactorsHalf;

#undef COVARIUM_TYPES
#undef COVARIUM_VECTORS
#undef COVARIUM_MATRICES
