// From a kernel's own signature to the slots of Kernel: pointers and the params reference take slots in order, the
// unsigned arguments behind them are the thread's place. Part of kernels.cc.

template <typename A>
struct Slot;
template <typename T>
struct Slot<T*> {
  static T* of(void* slot) { return static_cast<T*>(slot); }
  static constexpr size_t params = 0, buffers = 1;
};
template <typename T>
struct Slot<const T&> {
  static const T& of(void* slot) { return *static_cast<const T*>(slot); }
  static constexpr size_t params = sizeof(T), buffers = 0;
};
template <>
struct Slot<uint> {
  static constexpr size_t params = 0, buffers = 0;
};
template <>
struct Slot<uint2> {
  static constexpr size_t params = 0, buffers = 0;
};

template <typename Arguments, typename Memory>
struct Call;

// `Memory` indexes the arguments that are slots; the rest is the thread's place.
template <typename... A, size_t... I>
struct Call<void(A...), std::index_sequence<I...>> {
  template <auto function, typename... Place>
  static inline __attribute__((always_inline)) void at(void* const* slots, Place... place) {
    using All = void (*)(A...);
    constexpr All call = function;
    call(Slot<std::tuple_element_t<I, std::tuple<A...>>>::of(slots[I])..., place...);
  }
};

template <auto function>
struct Adapter;

template <typename... A, void (*function)(A...)>
struct Adapter<function> {
  static constexpr size_t paramsBytes = (Slot<A>::params + ...);
  static constexpr unsigned pointers = (static_cast<unsigned>(Slot<A>::buffers) + ...);
  using Last = std::tuple_element_t<sizeof...(A) - 1, std::tuple<A...>>;
  static constexpr bool planar = std::is_same_v<Last, uint2>;

  static void runMap(void* const* slots, uint32_t begin, uint32_t end, uint32_t y) {
    using OneCall = Call<void(A...), std::make_index_sequence<sizeof...(A) - 1>>;
    for (uint32_t x = begin; x < end; ++x) {
      if constexpr (planar) {
        OneCall::template at<function>(slots, uint2{x, y});
      } else {
        OneCall::template at<function>(slots, x);
      }
    }
  }

  static void runThread(void* const* slots, uint32_t row, uint32_t lane, uint32_t lanes) {
    if constexpr (sizeof...(A) > 3) {
      Call<void(A...), std::make_index_sequence<sizeof...(A) - 3>>::template at<function>(slots, row, lane, lanes);
    }
  }
};

template <auto function>
constexpr Kernel map(const char* name) {
  using A = Adapter<function>;
  return {name, A::pointers, A::paramsBytes, false, A::runMap, nullptr};
}

// The last pointer of a reduction is its threadgroup memory, not a buffer.
template <auto function>
constexpr Kernel reduction(const char* name) {
  using A = Adapter<function>;
  return {name, A::pointers - 1, A::paramsBytes, true, nullptr, A::runThread};
}
