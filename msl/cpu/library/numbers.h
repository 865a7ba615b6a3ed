// The numbers that Metal has names for, and what the standard library says of types. Part of words.h, in namespace
// metal.

#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP 38
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MIN_EXP (-125)
#define FLT_RADIX 2
#define HUGE_VALF __builtin_huge_valf()
#define CHAR_BIT 8
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT1_2_F 0.70710678118654752440f

using std::array;
// Public kernels specialise the base, as they find it in Apple's headers.
template <typename T>
struct _numeric_limits_impl : std::numeric_limits<T> {};
template <typename T>
struct numeric_limits : _numeric_limits_impl<T> {};
// digits: bits of the significand.
template <typename T, int digits>
struct SmallLimits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr T infinity() { return static_cast<T>(__builtin_inff()); }
  static constexpr T quiet_NaN() { return static_cast<T>(__builtin_nanf("")); }
  static constexpr T max() { return digits == 11 ? static_cast<T>(65504.0f) : static_cast<T>(3.3895313892515355e38f); }
  static constexpr T lowest() { return -max(); }
  static constexpr T min() {
    return digits == 11 ? static_cast<T>(6.103515625e-5f) : static_cast<T>(1.1754943508222875e-38f);
  }
  static constexpr T epsilon() { return digits == 11 ? static_cast<T>(9.765625e-4f) : static_cast<T>(7.8125e-3f); }
  static constexpr T denorm_min() { return static_cast<T>(digits == 11 ? 5.9604644775390625e-8f : 9.2e-41f); }
};
template <>
struct numeric_limits<half> : SmallLimits<half, 11> {};
template <>
struct numeric_limits<bfloat> : SmallLimits<bfloat, 8> {};
#define HALF_MAX half(65504.0f)
#define HALF_MIN half(6.103515625e-5f)
#define HALF_EPSILON half(9.765625e-4f)
#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP 4
#define HALF_MAX_EXP 16
#define HALF_MIN_10_EXP (-4)
#define HALF_MIN_EXP (-13)
#define HALF_RADIX 2
#define MAXHALF HALF_MAX
#define M_PI_H half(3.14159265358979323846f)
#define M_E_H half(2.71828182845904523536f)
#define M_LOG2E_H half(1.44269504088896340736f)
#define M_LN2_H half(0.69314718055994530942f)
#define M_SQRT2_H half(1.41421356237309504880f)
#define M_SQRT1_2_H half(0.70710678118654752440f)
#define M_2_SQRTPI_H half(1.12837916709551257390f)
#define M_1_PI_H half(0.31830988618379067154f)
#define M_2_PI_H half(0.63661977236758134308f)
#define M_PI_2_H half(1.57079632679489661923f)
#define M_PI_4_H half(0.78539816339744830962f)
#define M_LN10_H half(2.30258509299404568402f)
#define HUGE_VALH half(__builtin_inff())

using std::conditional;
using std::conditional_t;
using std::enable_if;
using std::enable_if_t;
template <typename T>
struct is_floating_point : std::bool_constant<covarium::isFloat<std::remove_cv_t<T>>> {};
template <typename T>
constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <typename T>
struct is_arithmetic : std::bool_constant<covarium::isNumber<std::remove_cv_t<T>>> {};
template <typename T>
constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <typename T>
struct is_vector : std::bool_constant<covarium::ShapeOf<T>::isVector> {};
template <typename T>
constexpr bool is_vector_v = is_vector<T>::value;
// There is only one kind of memory, so no type names one.
template <typename T>
struct remove_addrspace {
  using type = T;
};
template <typename T>
using remove_addrspace_t = T;
using std::add_pointer_t;
using std::bool_constant;
using std::common_type;
using std::common_type_t;
using std::conjunction;
using std::conjunction_v;
using std::decay;
using std::decay_t;
using std::declval;
using std::disjunction;
using std::disjunction_v;
using std::false_type;
using std::index_sequence;
using std::integer_sequence;
using std::integral_constant;
using std::is_array;
using std::is_array_v;
using std::is_base_of;
using std::is_base_of_v;
using std::is_class;
using std::is_class_v;
using std::is_const;
using std::is_const_v;
using std::is_convertible;
using std::is_convertible_v;
using std::is_empty;
using std::is_enum;
using std::is_enum_v;
using std::is_integral;
using std::is_integral_v;
using std::is_pointer;
using std::is_pointer_v;
using std::is_reference;
using std::is_reference_v;
using std::is_same;
using std::is_same_v;
using std::is_signed;
using std::is_signed_v;
using std::is_trivially_copyable;
using std::is_unsigned;
using std::is_unsigned_v;
using std::is_void;
using std::is_void_v;
using std::make_index_sequence;
using std::make_signed;
using std::make_signed_t;
using std::make_unsigned;
using std::make_unsigned_t;
using std::negation;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_extent;
using std::remove_extent_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::true_type;
using std::underlying_type;
using std::underlying_type_t;
using std::void_t;
