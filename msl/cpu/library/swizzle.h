// Several components of a short vector, as a member of it: v.zyx. Part of short-vector.h.

template <typename T, int n>
struct ShortVector;

template <typename T, int stored, int... at>
struct Swizzle {
  T all[stored];
  using Value = ShortVector<T, sizeof...(at)>;
  operator Value() const { return Value(all[at]...); }
  // The value that is read where a type is deduced (lib/kernel/cpu/rewrite.ts).
  Value plain() const { return Value(all[at]...); }
  // A copy: v.yx = v reads all of v before it writes.
  Swizzle& operator=(Value value) {
    int i = 0;
    ((all[at] = value[i++]), ...);
    return *this;
  }
  Swizzle& operator=(const Swizzle& other) { return *this = Value(other.all[at]...); }
  T operator[](int i) const {
    constexpr int places[] = {at...};
    return all[places[i]];
  }
};

// Every choice of two and three components, and of four those that keep their letters in order or are all one.
#define COVARIUM_SWIZZLES_2(stored, a, b, A, B) \
  Swizzle<T, stored, A, A> a##a;                \
  Swizzle<T, stored, A, B> a##b;                \
  Swizzle<T, stored, B, A> b##a;                \
  Swizzle<T, stored, B, B> b##b;
#define COVARIUM_SWIZZLES_OF_3(stored, a, b, c, A, B, C) \
  Swizzle<T, stored, A, A> a##a;                         \
  Swizzle<T, stored, A, B> a##b;                         \
  Swizzle<T, stored, A, C> a##c;                         \
  Swizzle<T, stored, B, A> b##a;                         \
  Swizzle<T, stored, B, B> b##b;                         \
  Swizzle<T, stored, B, C> b##c;                         \
  Swizzle<T, stored, C, A> c##a;                         \
  Swizzle<T, stored, C, B> c##b;                         \
  Swizzle<T, stored, C, C> c##c;                         \
  Swizzle<T, stored, A, A, A> a##a##a;                   \
  Swizzle<T, stored, B, B, B> b##b##b;                   \
  Swizzle<T, stored, C, C, C> c##c##c;                   \
  Swizzle<T, stored, A, B, C> a##b##c;                   \
  Swizzle<T, stored, A, C, B> a##c##b;                   \
  Swizzle<T, stored, B, A, C> b##a##c;                   \
  Swizzle<T, stored, B, C, A> b##c##a;                   \
  Swizzle<T, stored, C, A, B> c##a##b;                   \
  Swizzle<T, stored, C, B, A> c##b##a;
#define COVARIUM_SWIZZLES_OF_4(stored, a, b, c, d) \
  COVARIUM_SWIZZLES_OF_3(stored, a, b, c, 0, 1, 2) \
  Swizzle<T, stored, 0, 3> a##d;                   \
  Swizzle<T, stored, 1, 3> b##d;                   \
  Swizzle<T, stored, 2, 3> c##d;                   \
  Swizzle<T, stored, 3, 0> d##a;                   \
  Swizzle<T, stored, 3, 1> d##b;                   \
  Swizzle<T, stored, 3, 2> d##c;                   \
  Swizzle<T, stored, 3, 3> d##d;                   \
  Swizzle<T, stored, 3, 3, 3> d##d##d;             \
  Swizzle<T, stored, 1, 2, 3> b##c##d;             \
  Swizzle<T, stored, 0, 1, 3> a##b##d;             \
  Swizzle<T, stored, 0, 2, 3> a##c##d;             \
  Swizzle<T, stored, 0, 0, 0, 0> a##a##a##a;       \
  Swizzle<T, stored, 1, 1, 1, 1> b##b##b##b;       \
  Swizzle<T, stored, 2, 2, 2, 2> c##c##c##c;       \
  Swizzle<T, stored, 3, 3, 3, 3> d##d##d##d;       \
  Swizzle<T, stored, 0, 1, 2, 3> a##b##c##d;       \
  Swizzle<T, stored, 3, 2, 1, 0> d##c##b##a;       \
  Swizzle<T, stored, 2, 1, 0, 3> c##b##a##d;       \
  Swizzle<T, stored, 1, 2, 3, 0> b##c##d##a;       \
  Swizzle<T, stored, 3, 0, 1, 2> d##a##b##c;
