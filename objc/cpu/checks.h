// Fast tests of a whole matrix, sure where they say yes; symmetry.cc finds the entry where they don't. Part of
// kernels.cc.

template <typename T>
static bool allFinite(const T* a, size_t count) {
  // x - x is 0 for a finite x, and NaN for the others.
  bool finite = true;
  for (size_t begin = 0; begin < count && finite; begin += 4096) {
    const size_t end = begin + 4096 < count ? begin + 4096 : count;
    int bad = 0;
    for (size_t i = begin; i < end; ++i) bad |= !(a[i] - a[i] == T(0));
    finite = bad == 0;
  }
  return finite;
}

// Whether x and y are finite and as near as asked.
template <typename T>
static inline bool near(T x, T y, T tolerance) {
  const T difference = x < y ? y - x : x - y;
  const T ax = x < T(0) ? -x : x, ay = y < T(0) ? -y : y;
  const T larger = ax < ay ? ay : ax;
  return (difference <= tolerance * larger) & (larger - larger == T(0));
}

// Rows [first, last) against their columns up to the diagonal, in tiles, one of which is transposed on the way.
template <typename T>
static bool surelySymmetric(const T* a, size_t n, T tolerance, size_t first, size_t last) {
  constexpr size_t tile = 16;
  T across[tile][tile];
  for (size_t i = first; i < last; i += tile) {
    const size_t height = last - i < tile ? last - i : tile;
    for (size_t j = 0; j < i + height; j += tile) {
      const size_t width = i + height - j < tile ? i + height - j : tile;
      int bad = 0;
      if (height == tile && width == tile) {
        for (size_t c = 0; c < tile; ++c)
          for (size_t r = 0; r < tile; ++r) across[r][c] = a[(j + c) * n + i + r];
        for (size_t r = 0; r < tile; ++r)
          for (size_t c = 0; c < tile; ++c) bad |= !near(a[(i + r) * n + j + c], across[r][c], tolerance);
      } else {
        for (size_t r = 0; r < height; ++r)
          for (size_t c = 0; c < width; ++c) bad |= !near(a[(i + r) * n + j + c], a[(j + c) * n + i + r], tolerance);
      }
      if (bad) return false;
    }
  }
  return true;
}
