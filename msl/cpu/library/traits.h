// What the library needs of C++'s standard library: its own headers take longer to compile than most kernels, and
// NVRTC has none. Part of wrapper.h, in a namespace of ours.

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
template <typename To>
void take(To);
template <typename From, typename To, typename = void>
struct is_convertible : bool_constant<is_void_v<From> && is_void_v<To>> {};
template <typename From, typename To>
struct is_convertible<From, To, void_t<decltype(take<To>(declval<From>()))>> : true_type {};
template <typename From, typename To>
constexpr bool is_convertible_v = is_convertible<From, To>::value;
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
struct remove_extent<T[]> {
  using type = T;
};
template <typename T>
using remove_extent_t = typename remove_extent<T>::type;
template <typename T>
struct remove_all_extents {
  using type = T;
};
template <typename T, size_t n>
struct remove_all_extents<T[n]> : remove_all_extents<T> {};
template <typename T>
using remove_all_extents_t = typename remove_all_extents<T>::type;
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
  static constexpr bool isDouble = is_same_v<T, double>, isFloat = is_floating_point_v<T>;
  static constexpr bool is_specialized = is_arithmetic_v<T>, is_signed = is_signed_v<T>, is_integer = is_integral_v<T>;
  static constexpr bool is_exact = is_integer, has_infinity = isFloat, has_quiet_NaN = isFloat;
  static constexpr int radix = 2;
  static constexpr int digits = isDouble             ? 53
                                : isFloat            ? 24
                                : is_same_v<T, bool> ? 1
                                                     : 8 * static_cast<int>(sizeof(T)) - (is_signed ? 1 : 0);
  static constexpr T max() {
    if constexpr (isFloat) {
      return isDouble ? static_cast<T>(__DBL_MAX__) : static_cast<T>(__FLT_MAX__);
    } else if constexpr (is_same_v<T, bool>) {
      return true;
    } else {
      return static_cast<T>(static_cast<make_unsigned_t<T>>(~make_unsigned_t<T>(0)) >> (is_signed ? 1 : 0));
    }
  }
  static constexpr T lowest() {
    if constexpr (isFloat) {
      return -max();
    } else {
      return is_signed ? static_cast<T>(-max() - 1) : T(0);
    }
  }
  static constexpr T min() {
    if constexpr (isFloat) {
      return isDouble ? static_cast<T>(__DBL_MIN__) : static_cast<T>(__FLT_MIN__);
    } else {
      return lowest();
    }
  }
  static constexpr T epsilon() {
    return isDouble ? static_cast<T>(__DBL_EPSILON__) : isFloat ? static_cast<T>(__FLT_EPSILON__) : T(0);
  }
  static constexpr T denorm_min() {
    return isDouble ? static_cast<T>(__DBL_DENORM_MIN__) : isFloat ? static_cast<T>(__FLT_DENORM_MIN__) : T(0);
  }
  static COVARIUM_CONSTEXPR T infinity() { return isFloat ? static_cast<T>(__builtin_inff()) : T(0); }
  static COVARIUM_CONSTEXPR T quiet_NaN() { return isFloat ? static_cast<T>(__builtin_nanf("")) : T(0); }
};

template <typename T, size_t n>
struct array {
  using value_type = T;
  T all[n];
  constexpr T& operator[](size_t i) { return all[covarium::indexOf(i, n)]; }
  constexpr const T& operator[](size_t i) const { return all[covarium::indexOf(i, n)]; }
  constexpr T& at(size_t i) { return all[i]; }
  constexpr const T& at(size_t i) const { return all[i]; }
  constexpr T& front() { return all[0]; }
  constexpr const T& front() const { return all[0]; }
  constexpr T& back() { return all[n - 1]; }
  constexpr const T& back() const { return all[n - 1]; }
  static constexpr size_t size() { return n; }
  static constexpr size_t max_size() { return n; }
  static constexpr bool empty() { return n == 0; }
  constexpr void fill(const T& value) {
    for (T& each : all) each = value;
  }
  constexpr T* data() { return all; }
  constexpr const T* data() const { return all; }
  constexpr T* begin() { return all; }
  constexpr T* end() { return all + n; }
  constexpr const T* begin() const { return all; }
  constexpr const T* end() const { return all + n; }
};

}  // namespace std
