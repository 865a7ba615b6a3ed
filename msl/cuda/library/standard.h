// What msl/cpu/library takes of the standard library and of the compiler, for NVRTC and clang, which compile for the
// GPU without headers. Part of wrapper.h, in a namespace of the kernel's own, so that no name meets one of the
// compiler's.

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
#define COVARIUM_LANE __nvvm_read_ptx_sreg_tid_x()
#define COVARIUM_GROUP_X __nvvm_read_ptx_sreg_ctaid_x()
#define COVARIUM_GROUP_Y __nvvm_read_ptx_sreg_ctaid_y()
#define COVARIUM_GROUP_Z __nvvm_read_ptx_sreg_ctaid_z()
#else
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
#endif

namespace std {

template <bool condition, typename A, typename B>
struct conditional {
  using type = A;
};
template <typename A, typename B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool condition, typename A, typename B>
using conditional_t = typename conditional<condition, A, B>::type;

template <bool condition, typename T = void>
struct enable_if {};
template <typename T>
struct enable_if<true, T> {
  using type = T;
};
template <bool condition, typename T = void>
using enable_if_t = typename enable_if<condition, T>::type;

template <typename T, T is>
struct integral_constant {
  static constexpr T value = is;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return is; }
};
template <bool is>
using bool_constant = integral_constant<bool, is>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <typename...>
using void_t = void;
template <typename A, typename B>
struct is_same : bool_constant<false> {};
template <typename A>
struct is_same<A, A> : bool_constant<true> {};
template <typename A, typename B>
constexpr bool is_same_v = is_same<A, B>::value;

template <typename T>
struct remove_reference {
  using type = T;
};
template <typename T>
struct remove_reference<T&> {
  using type = T;
};
template <typename T>
struct remove_reference<T&&> {
  using type = T;
};
template <typename T>
using remove_reference_t = typename remove_reference<T>::type;
template <typename T>
struct remove_cv {
  using type = T;
};
template <typename T>
struct remove_cv<const T> {
  using type = T;
};
template <typename T>
struct remove_cv<volatile T> {
  using type = T;
};
template <typename T>
struct remove_cv<const volatile T> {
  using type = T;
};
template <typename T>
using remove_cv_t = typename remove_cv<T>::type;
template <typename T>
struct remove_pointer {
  using type = T;
};
template <typename T>
struct remove_pointer<T*> {
  using type = T;
};
template <typename T>
struct remove_pointer<T* const> {
  using type = T;
};
template <typename T>
using remove_pointer_t = typename remove_pointer<T>::type;
template <typename T>
struct is_pointer : bool_constant<false> {};
template <typename T>
struct is_pointer<T*> : bool_constant<true> {};
template <typename T>
constexpr bool is_pointer_v = is_pointer<remove_cv_t<T>>::value;

template <typename T, typename... Among>
constexpr bool is_one_of = (is_same_v<remove_cv_t<T>, Among> || ...);
template <typename T>
constexpr bool is_floating_point_v = is_one_of<T, float, double>;
template <typename T>
constexpr bool is_integral_v = is_one_of<T, bool, char, signed char, unsigned char, short, unsigned short, int,
                                         unsigned int, long, unsigned long, long long, unsigned long long>;
template <typename T>
constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <typename T>
constexpr bool isNegative() {
  if constexpr (is_arithmetic_v<T>) {
    return static_cast<remove_cv_t<T>>(-1) < static_cast<remove_cv_t<T>>(0);
  } else {
    return false;
  }
}
template <typename T>
constexpr bool is_signed_v = isNegative<T>();
template <typename T>
constexpr bool is_unsigned_v = is_integral_v<T> && !isNegative<T>();
template <typename T>
struct is_floating_point : bool_constant<is_floating_point_v<T>> {};
template <typename T>
struct is_integral : bool_constant<is_integral_v<T>> {};
template <typename T>
struct is_signed : bool_constant<is_signed_v<T>> {};
template <typename T>
struct is_unsigned : bool_constant<is_unsigned_v<T>> {};
template <typename T, typename... From>
constexpr bool is_constructible_v = __is_constructible(T, From...);

template <typename T>
using make_unsigned_t = conditional_t<
    sizeof(T) == 1, unsigned char,
    conditional_t<sizeof(T) == 2, unsigned short, conditional_t<sizeof(T) == 4, unsigned int, unsigned long>>>;

template <typename T>
using make_signed_t = conditional_t<sizeof(T) == 1, signed char,
                                    conditional_t<sizeof(T) == 2, short, conditional_t<sizeof(T) == 4, int, long>>>;
template <typename T>
struct make_unsigned {
  using type = make_unsigned_t<T>;
};
template <typename T>
struct make_signed {
  using type = make_signed_t<T>;
};

template <typename T>
T&& declval();
template <typename T>
constexpr remove_reference_t<T>&& move(T&& value) {
  return static_cast<remove_reference_t<T>&&>(value);
}
template <typename T>
constexpr T&& forward(remove_reference_t<T>& value) {
  return static_cast<T&&>(value);
}
template <typename T>
constexpr void swap(T& a, T& b) {
  T before = move(a);
  a = move(b);
  b = move(before);
}

#define COVARIUM_TRAIT(name, value) \
  template <typename T>             \
  constexpr bool name##_v = value;  \
  template <typename T>             \
  struct name : bool_constant<name##_v<T>> {}
COVARIUM_TRAIT(is_enum, __is_enum(T));
COVARIUM_TRAIT(is_class, __is_class(T));
COVARIUM_TRAIT(is_empty, __is_empty(T));
COVARIUM_TRAIT(is_trivially_copyable, __is_trivially_copyable(T));
COVARIUM_TRAIT(is_void, (is_same_v<remove_cv_t<T>, void>));
#undef COVARIUM_TRAIT
template <typename From, typename To>
constexpr bool is_convertible_v = __is_convertible_to(From, To);
template <typename From, typename To>
struct is_convertible : bool_constant<is_convertible_v<From, To>> {};
template <typename Base, typename T>
constexpr bool is_base_of_v = __is_base_of(Base, T);
template <typename Base, typename T>
struct is_base_of : bool_constant<is_base_of_v<Base, T>> {};
template <typename T>
struct is_const : false_type {};
template <typename T>
struct is_const<const T> : true_type {};
template <typename T>
constexpr bool is_const_v = is_const<T>::value;
template <typename T>
struct is_reference : bool_constant<!is_same_v<T, remove_reference_t<T>>> {};
template <typename T>
constexpr bool is_reference_v = is_reference<T>::value;
template <typename T>
struct is_array : false_type {};
template <typename T>
struct is_array<T[]> : true_type {};
template <typename T, size_t n>
struct is_array<T[n]> : true_type {};
template <typename T>
constexpr bool is_array_v = is_array<T>::value;
template <typename T>
struct remove_const {
  using type = T;
};
template <typename T>
struct remove_const<const T> {
  using type = T;
};
template <typename T>
using remove_const_t = typename remove_const<T>::type;
template <typename T>
struct remove_extent {
  using type = T;
};
template <typename T, size_t n>
struct remove_extent<T[n]> {
  using type = T;
};
template <typename T>
using remove_extent_t = typename remove_extent<T>::type;
template <typename T>
using add_pointer_t = remove_reference_t<T>*;
template <typename T>
using decay_t = conditional_t<is_array_v<remove_reference_t<T>>, add_pointer_t<remove_extent_t<remove_reference_t<T>>>,
                              remove_cv_t<remove_reference_t<T>>>;
template <typename T>
struct decay {
  using type = decay_t<T>;
};
template <typename T>
struct underlying_type {
  using type = __underlying_type(T);
};
template <typename T>
using underlying_type_t = typename underlying_type<T>::type;
template <typename A, typename B>
using common_type_t = decay_t<decltype(true ? declval<A>() : declval<B>())>;
template <typename A, typename B>
struct common_type {
  using type = common_type_t<A, B>;
};
template <typename... All>
constexpr bool conjunction_v = (bool(All::value) && ...);
template <typename... All>
struct conjunction : bool_constant<conjunction_v<All...>> {};
template <typename... All>
constexpr bool disjunction_v = (bool(All::value) || ...);
template <typename... All>
struct disjunction : bool_constant<disjunction_v<All...>> {};
template <typename T>
struct negation : bool_constant<!bool(T::value)> {};

template <typename T, T... all>
struct integer_sequence {
  static constexpr size_t size() { return sizeof...(all); }
};
template <size_t... all>
using index_sequence = integer_sequence<size_t, all...>;
template <size_t n, size_t... all>
struct SequenceTo : SequenceTo<n - 1, n - 1, all...> {};
template <size_t... all>
struct SequenceTo<0, all...> {
  using type = index_sequence<all...>;
};
template <size_t n>
using make_index_sequence = typename SequenceTo<n>::type;

template <typename T>
struct numeric_limits {
  static constexpr bool is_signed = is_signed_v<T>;
  static constexpr T max() {
    if constexpr (is_floating_point_v<T>) {
      return __FLT_MAX__;
    } else if constexpr (is_same_v<T, bool>) {
      return true;
    } else {
      return static_cast<T>(static_cast<make_unsigned_t<T>>(~make_unsigned_t<T>(0)) >> (is_signed ? 1 : 0));
    }
  }
  static constexpr T lowest() {
    if constexpr (is_floating_point_v<T>) {
      return -__FLT_MAX__;
    } else {
      return is_signed ? static_cast<T>(-max() - 1) : T(0);
    }
  }
  static constexpr T min() {
    if constexpr (is_floating_point_v<T>) {
      return __FLT_MIN__;
    } else {
      return lowest();
    }
  }
  static constexpr T epsilon() { return is_floating_point_v<T> ? T(__FLT_EPSILON__) : T(0); }
  static T infinity() { return static_cast<T>(__builtin_inff()); }
  static T quiet_NaN() { return static_cast<T>(__builtin_nanf("")); }
};

template <typename T, size_t n>
struct array {
  T all[n];
  T& operator[](size_t i) { return all[i]; }
  const T& operator[](size_t i) const { return all[i]; }
  static constexpr size_t size() { return n; }
  T* begin() { return all; }
  T* end() { return all + n; }
  const T* begin() const { return all; }
  const T* end() const { return all + n; }
};

}  // namespace std
