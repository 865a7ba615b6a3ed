// What msl/cpu/library needs from the compiler, for NVRTC and clang, which compile for the GPU without headers. Part
// of wrapper.h, in the kernel's own namespace, so that no name collides with one of the compiler's.

using size_t = decltype(sizeof 0);
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;

#ifdef __clang__
#define memcpy __builtin_memcpy
#define __launch_bounds__(lanes) __attribute__((launch_bounds(lanes)))
#define __global__ __attribute__((__global__))
#define __shared__ __attribute__((__shared__))
#define __device__ __attribute__((__device__))
#define COVARIUM_CONSTEXPR constexpr
#define COVARIUM_LANE __nvvm_read_ptx_sreg_tid_x()
#define COVARIUM_GROUP_X __nvvm_read_ptx_sreg_ctaid_x()
#define COVARIUM_GROUP_Y __nvvm_read_ptx_sreg_ctaid_y()
#define COVARIUM_GROUP_Z __nvvm_read_ptx_sreg_ctaid_z()
#else
#define COVARIUM_CONSTEXPR  // __int_as_float is not constexpr
#define COVARIUM_LANE threadIdx.x
#define COVARIUM_GROUP_X blockIdx.x
#define COVARIUM_GROUP_Y blockIdx.y
#define COVARIUM_GROUP_Z blockIdx.z
// NVRTC has the functions of CUDA instead of the compiler's own.
#define __builtin_acosf ::acosf
#define __builtin_acoshf ::acoshf
#define __builtin_asinf ::asinf
#define __builtin_asinhf ::asinhf
#define __builtin_atan2f ::atan2f
#define __builtin_atanf ::atanf
#define __builtin_atanhf ::atanhf
#define __builtin_ceilf ::ceilf
#define __builtin_clzll(x) ::__clzll(static_cast<long long>(x))
#define __builtin_copysignf ::copysignf
#define __builtin_cosf ::cosf
#define __builtin_coshf ::coshf
#define __builtin_ctzll(x) (::__ffsll(static_cast<long long>(x)) - 1)
#define __builtin_exp2f ::exp2f
#define __builtin_expf ::expf
#define __builtin_fabsf ::fabsf
#define __builtin_fdimf ::fdimf
#define __builtin_floorf ::floorf
#define __builtin_fmaf ::fmaf
#define __builtin_fmaxf ::fmaxf
#define __builtin_fminf ::fminf
#define __builtin_fmodf ::fmodf
#define __builtin_frexpf ::frexpf
#define __builtin_huge_valf() ::__int_as_float(0x7f800000)
#define __builtin_ilogbf ::ilogbf
#define __builtin_inff() ::__int_as_float(0x7f800000)
#define __builtin_isfinite(x) (::fabsf(x) < ::__int_as_float(0x7f800000))
#define __builtin_isinf(x) (::fabsf(x) == ::__int_as_float(0x7f800000))
#define __builtin_isnan(x) ((x) != (x))
#define __builtin_isnormal(x) (::fabsf(x) >= __FLT_MIN__ && ::fabsf(x) < ::__int_as_float(0x7f800000))
#define __builtin_isunordered(x, y) ((x) != (x) || (y) != (y))
#define __builtin_ldexpf ::ldexpf
#define __builtin_log10f ::log10f
#define __builtin_log2f ::log2f
#define __builtin_logf ::logf
#define __builtin_nanf(tag) ::__int_as_float(0x7fc00000)
#define __builtin_offsetof(T, member) __INTADDR__(&((static_cast<T*>(nullptr))->member))
#define __builtin_nextafterf ::nextafterf
#define __builtin_popcountll(x) ::__popcll(static_cast<unsigned long long>(x))
#define __builtin_powf ::powf
#define __builtin_rintf ::rintf
#define __builtin_roundf ::roundf
#define __builtin_signbitf(x) (::__float_as_int(x) < 0)
#define __builtin_sin ::sin
#define __builtin_sinf ::sinf
#define __builtin_sinhf ::sinhf
#define __builtin_sqrtf ::sqrtf
#define __builtin_tanf ::tanf
#define __builtin_tanhf ::tanhf
#define __builtin_truncf ::truncf
#ifndef __FLT_MAX__
#define __FLT_MAX__ 3.402823466e+38f
#define __FLT_MIN__ 1.175494351e-38f
#define __FLT_EPSILON__ 1.192092896e-07f
#endif
#ifndef __FLT_DENORM_MIN__
#define __FLT_DENORM_MIN__ 1.401298464e-45f
#endif
#ifndef __DBL_MAX__
#define __DBL_MAX__ 1.7976931348623157e+308
#define __DBL_MIN__ 2.2250738585072014e-308
#define __DBL_EPSILON__ 2.2204460492503131e-16
#endif
#ifndef __DBL_DENORM_MIN__
#define __DBL_DENORM_MIN__ 4.9406564584124654e-324
#endif
#endif
