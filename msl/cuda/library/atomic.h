// The atomic words on an NVIDIA GPU, always relaxed as Metal's are. It takes the place of msl/cpu/library/atomic.h.

enum memory_order { memory_order_relaxed };

template <typename T>
struct atomic {
  T value;
};
using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_float = atomic<float>;
using atomic_bool = atomic<bool>;

// Sets the word to `desired` if it is `expected`; returns its earlier value.
static inline uint compareAndSwap(const volatile void* word, uint expected, uint desired) {
  uint before;
  asm volatile("atom.cas.b32 %0, [%1], %2, %3;" : "=r"(before) : "l"(word), "r"(expected), "r"(desired) : "memory");
  return before;
}

template <typename T>
static inline T atomic_load_explicit(const volatile atomic<T>* object, memory_order) {
  return object->value;
}
template <typename T, typename V>
static inline void atomic_store_explicit(volatile atomic<T>* object, V desired, memory_order) {
  object->value = static_cast<T>(desired);
}

// Returns the earlier value.
template <typename T, typename Change>
static inline T atomicUpdate(volatile atomic<T>* object, Change change) {
  static_assert(sizeof(T) == sizeof(uint), "an atomic that changes has 4 bytes here");
  for (T before = object->value;;) {
    const uint was = as_type<uint>(before);
    const uint found = compareAndSwap(object, was, as_type<uint>(static_cast<T>(change(before))));
    if (found == was) return before;
    before = as_type<T>(found);
  }
}
template <typename T, typename V>
static inline T atomic_exchange_explicit(volatile atomic<T>* object, V desired, memory_order) {
  const T value = static_cast<T>(desired);
  return atomicUpdate(object, [value](T) { return value; });
}
template <typename T, typename V>
static inline bool atomic_compare_exchange_weak_explicit(volatile atomic<T>* object, T* expected, V desired,
                                                         memory_order, memory_order) {
  static_assert(sizeof(T) == sizeof(uint), "an atomic that changes has 4 bytes here");
  const uint was = as_type<uint>(*expected);
  const uint found = compareAndSwap(object, was, as_type<uint>(static_cast<T>(desired)));
  *expected = as_type<T>(found);
  return found == was;
}

// By one instruction, for the types that it supports.
#define COVARIUM_ATOMIC(name, instruction, T, letter, body)                                                      \
  template <typename V>                                                                                          \
  static inline T atomic_fetch_##name##_explicit(volatile atomic<T>* object, V value, memory_order) {            \
    const T b = static_cast<T>(body);                                                                            \
    T before;                                                                                                    \
    asm volatile("atom." instruction " %0, [%1], %2;" : "=" letter(before) : "l"(object), letter(b) : "memory"); \
    return before;                                                                                               \
  }
#define COVARIUM_ATOMICS(T, type)                     \
  COVARIUM_ATOMIC(add, "add.u32", T, "r", value)      \
  COVARIUM_ATOMIC(sub, "add.u32", T, "r", 0u - value) \
  COVARIUM_ATOMIC(and, "and.b32", T, "r", value)      \
  COVARIUM_ATOMIC(or, "or.b32", T, "r", value)        \
  COVARIUM_ATOMIC(xor, "xor.b32", T, "r", value)      \
  COVARIUM_ATOMIC(min, "min." type, T, "r", value)    \
  COVARIUM_ATOMIC(max, "max." type, T, "r", value)
COVARIUM_ATOMICS(int, "s32")
COVARIUM_ATOMICS(uint, "u32")
COVARIUM_ATOMIC(add, "add.f32", float, "f", value)
COVARIUM_ATOMIC(sub, "add.f32", float, "f", -static_cast<float>(value))
#undef COVARIUM_ATOMICS
#undef COVARIUM_ATOMIC
