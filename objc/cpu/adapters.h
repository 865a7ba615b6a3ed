// From a kernel's own signature to the slots of Kernel: pointers and the params reference take slots in order, the
// unsigned arguments behind them are the thread's place. Part of kernels.cc.

template <typename A>
struct Slot;
template <typename T>
struct Slot<T*> {
  static T* of(void* slot) { return static_cast<T*>(slot); }
  static constexpr size_t params = 0, pointers = 1;
  static constexpr bool written = !std::is_const_v<T>;
};
template <typename T>
struct Slot<const T&> {
  static const T& of(void* slot) { return *static_cast<const T*>(slot); }
  static constexpr size_t params = sizeof(T), pointers = 0;
  static constexpr bool written = false;
};
template <>
struct Slot<uint> {
  static constexpr size_t params = 0, pointers = 0;
  static constexpr bool written = false;
};
template <>
struct Slot<uint2> {
  static constexpr size_t params = 0, pointers = 0;
  static constexpr bool written = false;
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
  static constexpr size_t arguments = sizeof...(A);
  static constexpr size_t paramsBytes = (Slot<A>::params + ...);
  // Pointers behind the params are threadgroup memory, those in front of them buffers.
  static constexpr unsigned pointersUpTo(bool params) {
    const size_t pointer[] = {Slot<A>::pointers...}, isParams[] = {Slot<A>::params...};
    unsigned count = 0;
    for (size_t i = 0; i < arguments && !(params && isParams[i] != 0); ++i) count += pointer[i];
    return count;
  }
  static constexpr unsigned buffers = pointersUpTo(true), pointers = pointersUpTo(false);
  static constexpr uint32_t written() {
    const bool writes[] = {Slot<A>::written...};
    uint32_t bits = 0;
    for (unsigned b = 0; b < buffers; ++b) bits |= uint32_t{writes[b]} << b;
    return bits;
  }
  static constexpr size_t places = arguments - pointers - 1;
  using Last = std::tuple_element_t<arguments - 1, std::tuple<A...>>;
  static constexpr bool planar = std::is_same_v<Last, uint2>;
  using OneCall = Call<void(A...), std::make_index_sequence<arguments - places>>;

  static void runMap(void* const* slots, uint32_t begin, uint32_t end, uint32_t y) {
    static_assert(places == 1 && buffers == pointers, "a map has its position alone, and no threadgroup memory");
    for (uint32_t x = begin; x < end; ++x) {
      if constexpr (planar) {
        OneCall::template at<function>(slots, uint2{x, y});
      } else {
        OneCall::template at<function>(slots, x);
      }
    }
  }

  // A kernel that uses simdgroup functions takes their width as a fourth place.
  static void runThread(void* const* slots, uint32_t row, uint32_t lane, uint32_t lanes, uint32_t simdWidth) {
    static_assert(places == 3 || places == 4, "a reduction has row, lane, lanes, and may have the simdgroup's width");
    if constexpr (places == 4) {
      OneCall::template at<function>(slots, row, lane, lanes, simdWidth);
    } else {
      OneCall::template at<function>(slots, row, lane, lanes);
    }
  }
};

template <auto function>
constexpr Kernel map(const char* name) {
  using A = Adapter<function>;
  return {name, A::buffers, A::written(), A::paramsBytes, false, false, nullptr, A::runMap, nullptr};
}

template <auto function>
constexpr Kernel reduction(const char* name, size_t (*memoryBytes)(const void*, uint32_t, uint32_t)) {
  using A = Adapter<function>;
  static_assert(A::pointers <= A::buffers + 1, "threadgroup memory is one array");
  constexpr bool hasMemory = A::pointers > A::buffers;
  return {name, A::buffers, A::written(), A::paramsBytes, true, hasMemory, memoryBytes, nullptr, A::runThread};
}
