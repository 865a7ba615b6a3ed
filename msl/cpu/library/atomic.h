// The atomic words, always relaxed as Metal's are. Part of words.h, in namespace metal.

enum memory_order { memory_order_relaxed };

template <typename T>
struct atomic {
  T value;
};
using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_float = atomic<float>;
using atomic_bool = atomic<bool>;

// The number in an atomic that a pointer of any kind points to.
template <typename P>
static inline auto* numberAt(const P& object) {
  auto* raw = &(*object).value;
  return const_cast<std::remove_cv_t<std::remove_pointer_t<decltype(raw)>>*>(raw);
}
template <typename P>
using NumberAt = std::remove_pointer_t<decltype(numberAt(std::declval<const P&>()))>;

template <typename P>
static inline NumberAt<P> atomic_load_explicit(const P& object, memory_order) {
  NumberAt<P> value;
  __atomic_load(numberAt(object), &value, __ATOMIC_RELAXED);
  return value;
}
template <typename P, typename V>
static inline void atomic_store_explicit(const P& object, V desired, memory_order) {
  NumberAt<P> value = static_cast<NumberAt<P>>(desired);
  __atomic_store(numberAt(object), &value, __ATOMIC_RELAXED);
}
template <typename P, typename V>
static inline NumberAt<P> atomic_exchange_explicit(const P& object, V desired, memory_order) {
  NumberAt<P> value = static_cast<NumberAt<P>>(desired), before;
  __atomic_exchange(numberAt(object), &value, &before, __ATOMIC_RELAXED);
  return before;
}
template <typename P, typename V>
static inline bool atomic_compare_exchange_weak_explicit(const P& object, NumberAt<P>* expected, V desired,
                                                         memory_order, memory_order) {
  NumberAt<P> value = static_cast<NumberAt<P>>(desired);
  return __atomic_compare_exchange(numberAt(object), expected, &value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

// The value before; a loop, so that floats, min and max need nothing of their own.
template <typename T, typename Change>
static inline T atomicUpdate(T* number, Change change) {
  T before, after;
  __atomic_load(number, &before, __ATOMIC_RELAXED);
  do {
    after = change(before);
  } while (!__atomic_compare_exchange(number, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return before;
}
#define COVARIUM_ATOMIC(name, body)                                                                  \
  template <typename P, typename V>                                                                  \
  static inline NumberAt<P> atomic_fetch_##name##_explicit(const P& object, V value, memory_order) { \
    using T = NumberAt<P>;                                                                           \
    const T b = static_cast<T>(value);                                                               \
    return atomicUpdate(numberAt(object), [b](T a) { return static_cast<T>(body); });                \
  }
COVARIUM_ATOMIC(add, a + b)
COVARIUM_ATOMIC(sub, a - b)
COVARIUM_ATOMIC(and, a& b)
COVARIUM_ATOMIC(or, a | b)
COVARIUM_ATOMIC(xor, a ^ b)
COVARIUM_ATOMIC(min, b < a ? b : a)
COVARIUM_ATOMIC(max, a < b ? b : a)
#undef COVARIUM_ATOMIC
