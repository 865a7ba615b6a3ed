// The atomic words. Threads of a group take turns, and between groups each operation is sequentially consistent: a
// kernel that asks for another order sees no difference. Part of words.h, in namespace metal.

enum memory_order {
  memory_order_relaxed,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };
// From Metal 3.2. Kernels for older versions declare it themselves in namespace metal, and so hide this one.
namespace covarium_later {
constexpr auto thread_scope_system = static_cast<thread_scope>(thread_scope_device + 1);
}
using namespace covarium_later;
using memory_scope = thread_scope;

template <typename T>
struct atomic {
  T value;
};
using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_float = atomic<float>;
using atomic_bool = atomic<bool>;
using atomic_ulong = atomic<ulong>;
using atomic_long = atomic<long>;
using atomic_ushort = atomic<ushort>;
using atomic_uchar = atomic<uchar>;

// The number in an atomic that a pointer of any kind points to.
template <typename P>
static inline auto* numberAt(const P& object) {
  auto* raw = &(*object).value;
#if defined(covarium_check_mode)
  covarium::kernelHost->atomic(raw);
#endif
  return const_cast<std::remove_cv_t<std::remove_pointer_t<decltype(raw)>>*>(raw);
}
template <typename P>
using NumberAt = std::remove_pointer_t<decltype(numberAt(std::declval<const P&>()))>;

template <typename P>
static inline NumberAt<P> atomic_load_explicit(const P& object, memory_order) {
  NumberAt<P> value;
  __atomic_load(numberAt(object), &value, __ATOMIC_SEQ_CST);
  return value;
}
template <typename P, typename V>
static inline void atomic_store_explicit(const P& object, V desired, memory_order) {
  NumberAt<P> value = static_cast<NumberAt<P>>(desired);
  __atomic_store(numberAt(object), &value, __ATOMIC_SEQ_CST);
}
template <typename P, typename V>
static inline NumberAt<P> atomic_exchange_explicit(const P& object, V desired, memory_order) {
  NumberAt<P> value = static_cast<NumberAt<P>>(desired), before;
  __atomic_exchange(numberAt(object), &value, &before, __ATOMIC_SEQ_CST);
  return before;
}
template <typename P, typename V>
static inline bool atomic_compare_exchange_weak_explicit(const P& object, NumberAt<P>* expected, V desired,
                                                         memory_order, memory_order) {
  NumberAt<P> value = static_cast<NumberAt<P>>(desired);
  return __atomic_compare_exchange(numberAt(object), expected, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

// Returns the earlier value. It is a loop, so that floats, min and max need no code of their own.
template <typename T, typename Change>
static inline T atomicUpdate(T* number, Change change) {
  T before, after;
  __atomic_load(number, &before, __ATOMIC_SEQ_CST);
  do {
    after = change(before);
  } while (!__atomic_compare_exchange(number, &before, &after, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
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
template <typename P, typename V>
static inline void atomic_max_explicit(const P& object, V value, memory_order order) {
  atomic_fetch_max_explicit(object, value, order);
}
template <typename P, typename V>
static inline void atomic_min_explicit(const P& object, V value, memory_order order) {
  atomic_fetch_min_explicit(object, value, order);
}
