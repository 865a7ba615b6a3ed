// Check mode: a pointer that knows its buffer and looks at every access. What would touch other memory is told to the
// host, reads 0 and writes nowhere. Part of wrapper.h.

struct Extent {
  const char* name;
  char* begin;
  uint64_t bytes;
};

// Of the launch that this processor thread runs.
static thread_local const Extent* extents = nullptr;
static thread_local unsigned extentCount = 0;

// The kernel's own variables in threadgroup memory, as far as its threads have declared them.
constexpr unsigned mostOwn = 64;
static thread_local Extent own[mostOwn];
static inline void declareOwn(unsigned which, const char* name, void* begin, uint64_t bytes) {
  if (which < mostOwn) own[which] = {name, static_cast<char*>(begin), bytes};
}

// The memory that an address lies in; nullptr for a variable that is a thread's own.
static inline const Extent* extentOf(const void* at) {
  const auto* byte = static_cast<const char*>(at);
  const auto holds = [byte](const Extent& each) { return byte >= each.begin && byte < each.begin + each.bytes; };
  for (unsigned i = 0; i < extentCount; ++i)
    if (holds(extents[i])) return &extents[i];
  for (const Extent& each : own)
    if (holds(each)) return &each;
  return nullptr;
}

// Where an access goes that must go nowhere.
template <typename T>
static inline T& nowhere() {
  alignas(T) static thread_local char memory[sizeof(T)];
  memset(memory, 0, sizeof memory);
  return *reinterpret_cast<T*>(memory);
}

template <typename T>
class Checked;

// A number of elements, with the place in the text that says it.
struct Index {
  int64_t at;
  const char* file;
  uint32_t line;
  template <typename I, typename = std::enable_if_t<std::is_integral_v<I> || std::is_enum_v<I>>>
  Index(I at, const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE())
      : at(static_cast<int64_t>(at)), file(file), line(line) {}
};

// An array in threadgroup memory; its rows are arrays themselves.
template <typename A>
struct CheckedArray;
template <typename T>
using ElementOf = std::conditional_t<std::is_array_v<T>, CheckedArray<T>, T>;
template <typename T, size_t n>
struct CheckedArray<T[n]> {
  ElementOf<T> all[n];
  ElementOf<T>& operator[](Index index) {
    if (index.at >= 0 && static_cast<uint64_t>(index.at) < n) return all[index.at];
    const Extent* extent = extentOf(this);
    kernelHost->violation({extent == nullptr ? "array" : extent->name, index.at, n, index.file, index.line});
    return nowhere<ElementOf<T>>();
  }
  ElementOf<T>& operator*() { return all[0]; }
  Checked<T> operator+(Index by) { return Checked<T>(*this) + by; }
  ElementOf<T>* begin() { return all; }
  ElementOf<T>* end() { return all + n; }
  // As an argument that is an array.
  template <typename U, typename = std::enable_if_t<std::is_same_v<U, T[n]>>>
  operator U&() {
    return reinterpret_cast<U&>(all);
  }
  template <typename U, typename = std::enable_if_t<std::is_same_v<U, T>>>
  operator U*() {
    return reinterpret_cast<U*>(all);
  }
};

template <typename T>
class Checked {
 public:
  Checked() = default;
  Checked(std::nullptr_t) {}
  // An address of an element: of the buffer that it lies in.
  Checked(T* at, const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE())
      : at_(at), extent_(extentOf(at)), file_(file), line_(line) {}
  Checked(T* at, const Extent* extent, const char* file, uint32_t line)
      : at_(at), extent_(extent), file_(file), line_(line) {}
  // An array is a pointer to its first element.
  template <typename A, typename = std::enable_if_t<std::is_same_v<std::remove_const_t<T>, std::remove_extent_t<A>>>>
  Checked(CheckedArray<A>& array, const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE())
      : Checked(&array.all[0], file, line) {}
  template <typename A, typename = std::enable_if_t<!std::is_same_v<std::remove_const_t<T>, std::remove_extent_t<A>>>,
            typename = void>
  explicit Checked(CheckedArray<A>& array, const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE())
      : Checked((T*)&array, file, line) {}
  // Const of what is not.
  template <typename U, typename = std::enable_if_t<std::is_same_v<const U, T>>>
  Checked(const Checked<U>& other) : at_(other.at_), extent_(other.extent_), file_(other.file_), line_(other.line_) {}
  template <typename U, typename = std::enable_if_t<!std::is_same_v<const U, T> && !std::is_same_v<U, T>>,
            typename = void>
  explicit Checked(const Checked<U>& other)
      : at_((T*)other.at_), extent_(other.extent_), file_(other.file_), line_(other.line_) {}

  T& operator[](Index index) const { return element(index.at, index.file, index.line); }
  T& operator*() const { return element(0, file_, line_); }
  T* operator->() const { return &element(0, file_, line_); }
  Checked operator+(Index by) const { return {at_ + by.at, extent_, by.file, by.line}; }
  Checked operator-(Index by) const { return {at_ - by.at, extent_, by.file, by.line}; }
  friend Checked operator+(Index by, const Checked& from) { return from + by; }
  friend int64_t operator-(const Checked& a, const Checked& b) { return a.at_ - b.at_; }
  Checked& operator+=(Index by) { return *this = *this + by; }
  Checked& operator-=(Index by) { return *this = *this - by; }
  Checked& operator++() { return *this = {at_ + 1, extent_, file_, line_}; }
  Checked& operator--() { return *this = {at_ - 1, extent_, file_, line_}; }
  Checked operator++(int) {
    const Checked before = *this;
    ++*this;
    return before;
  }
  Checked operator--(int) {
    const Checked before = *this;
    --*this;
    return before;
  }
  explicit operator bool() const { return at_ != nullptr; }
  friend bool operator==(const Checked& a, const Checked& b) { return a.at_ == b.at_; }
  friend bool operator!=(const Checked& a, const Checked& b) { return a.at_ != b.at_; }
  friend bool operator<(const Checked& a, const Checked& b) { return a.at_ < b.at_; }
  friend bool operator>(const Checked& a, const Checked& b) { return b < a; }
  friend bool operator<=(const Checked& a, const Checked& b) { return !(b < a); }
  friend bool operator>=(const Checked& a, const Checked& b) { return !(a < b); }

 private:
  template <typename U>
  friend class Checked;

  T& element(int64_t index, const char* file, uint32_t line) const {
    // What is in no buffer is a variable of the kernel's own.
    if (at_ != nullptr && extent_ == nullptr) return at_[index];
    const char* begin = extent_ == nullptr ? nullptr : extent_->begin;
    const uint64_t bytes = extent_ == nullptr ? 0 : extent_->bytes;
    const int64_t offset = reinterpret_cast<const char*>(at_) - begin + index * static_cast<int64_t>(sizeof(T));
    if (offset >= 0 && static_cast<uint64_t>(offset) + sizeof(T) <= bytes) return at_[index];
    const auto size = static_cast<int64_t>(sizeof(T));
    const int64_t element = offset >= 0 ? offset / size : -((size - 1 - offset) / size);
    kernelHost->violation({extent_ == nullptr ? "nullptr" : extent_->name, element, bytes / sizeof(T), file, line});
    return nowhere<T>();
  }

  T* at_ = nullptr;
  const Extent* extent_ = nullptr;
  const char* file_ = nullptr;
  uint32_t line_ = 0;
};

template <typename T>
struct IsChecked : std::false_type {};
template <typename T>
struct IsChecked<Checked<T>> : std::true_type {
  using Element = T;
};
