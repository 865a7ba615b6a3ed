// mean + factor z for many rows of few columns, where a BLAS call would cost more than its work. Part of kernels.cc.
//
// Up to 8 columns: the rows are one stream, y[e] = mean + sum over d of L[j][j - d] z[e - d] with j = e mod n, so that
// each coefficient is a vector that repeats after n / gcd(n, lanes) vectors. Beyond: a row of L' times a broadcast z.

template <typename T>
constexpr size_t narrowLimit = 2 * lanesOf<T>;
constexpr size_t streamLimit = 8;

constexpr size_t periodOf(size_t n, size_t lanes) {
  size_t a = n, b = lanes;
  while (b != 0) {
    const size_t rest = a % b;
    a = b;
    b = rest;
  }
  return n / a;
}

template <typename T>
static size_t narrowTableLength(size_t n) {
  const size_t lanes = lanesOf<T>;
  return n <= streamLimit ? (n + 1) * periodOf(n, lanes) * lanes : (n + 1) * narrowLimit<T>;
}

// First the mean, then n coefficients, each laid over the lanes.
template <typename T>
static void narrowTable(const T* factor, const T* mean, size_t n, T* table) {
  const size_t lanes = lanesOf<T>;
  if (n <= streamLimit) {
    for (size_t p = 0; p < periodOf(n, lanes); ++p) {
      T* vectors = table + p * (n + 1) * lanes;
      for (size_t lane = 0; lane < lanes; ++lane) {
        const size_t j = (p * lanes + lane) % n;
        vectors[lane] = mean[j];
        for (size_t d = 0; d < n; ++d) vectors[(d + 1) * lanes + lane] = d <= j ? factor[j * n + j - d] : T(0);
      }
    }
    return;
  }
  const size_t width = narrowLimit<T>;
  for (size_t j = 0; j < width; ++j) {
    table[j] = j < n ? mean[j] : T(0);
    for (size_t k = 0; k < n; ++k) table[(k + 1) * width + j] = j < n && k <= j ? factor[j * n + k] : T(0);
  }
}

template <typename T, size_t n>
static void streamProduct(const T* __restrict table, const T* __restrict z, T* __restrict out, size_t count) {
  constexpr size_t lanes = lanesOf<T>, period = periodOf(n, lanes);
  const size_t length = count * n;
  size_t e = 0;
  const auto vectorAt = [&](size_t p) __attribute__((always_inline)) {
    const T* vectors = table + p * (n + 1) * lanes;
    Vector<T> y = load(vectors);
    for (size_t d = 0; d < n; ++d) y = multiplyAdd(load(vectors + (d + 1) * lanes), load(z + e - d), y);
    return y;
  };
  for (; e + period * lanes <= length;)
    for (size_t p = 0; p < period; ++p, e += lanes) store(out + e, vectorAt(p));
  for (size_t p = 0; e < length; ++p, e += lanes) {
    const Vector<T> y = vectorAt(p);
    memcpy(out + e, &y, (length - e < lanes ? length - e : lanes) * sizeof(T));
  }
}

// `rows` rows of at most `vectors` vectors each. A full vector stored behind a row's end is mended by the next row's
// store; the last rows of the block are cut to size.
template <typename T, size_t vectors, size_t rows>
static inline void broadcastRows(const T* __restrict table, const T* __restrict z, T* __restrict out, size_t n,
                                 bool last) {
  constexpr size_t lanes = lanesOf<T>, width = narrowLimit<T>;
  Vector<T> y[rows][vectors];
  for (size_t r = 0; r < rows; ++r)
    for (size_t v = 0; v < vectors; ++v) y[r][v] = load(table + v * lanes);
  const size_t wide = vectors == 1 ? n : lanes;  // beyond it only the second vector has entries
  for (size_t k = 0; k < wide; ++k) {
    const T* column = table + (k + 1) * width;
    for (size_t r = 0; r < rows; ++r) {
      const Vector<T> zk = broadcast(z[r * n + k]);
      for (size_t v = 0; v < vectors; ++v) y[r][v] = multiplyAdd(zk, load(column + v * lanes), y[r][v]);
    }
  }
  for (size_t k = wide; k < n; ++k) {
    const Vector<T> column = load(table + (k + 1) * width + (vectors - 1) * lanes);
    for (size_t r = 0; r < rows; ++r)
      y[r][vectors - 1] = multiplyAdd(broadcast(z[r * n + k]), column, y[r][vectors - 1]);
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t v = 0; v < vectors; ++v) {
      if (last) {
        const size_t left = n - v * lanes;
        memcpy(out + r * n + v * lanes, &y[r][v], (left < lanes ? left : lanes) * sizeof(T));
      } else {
        store(out + r * n + v * lanes, y[r][v]);
      }
    }
  }
}

template <typename T, size_t vectors>
static void broadcastProduct(const T* table, const T* z, T* out, size_t count, size_t n) {
  constexpr size_t group = vectors == 1 ? 8 : 6;
  size_t r = 0;
  // One row more than the group stays behind it, so that full vectors end inside out (a row has over half of its
  // vectors).
  for (; r + group + 2 <= count; r += group) broadcastRows<T, vectors, group>(table, z + r * n, out + r * n, n, false);
  for (; r < count; ++r) broadcastRows<T, vectors, 1>(table, z + r * n, out + r * n, n, true);
}

template <typename T>
static void narrowProduct(const T* table, const T* z, T* out, size_t count, size_t n) {
  switch (n) {
    case 1:
      return streamProduct<T, 1>(table, z, out, count);
    case 2:
      return streamProduct<T, 2>(table, z, out, count);
    case 3:
      return streamProduct<T, 3>(table, z, out, count);
    case 4:
      return streamProduct<T, 4>(table, z, out, count);
    case 5:
      return streamProduct<T, 5>(table, z, out, count);
    case 6:
      return streamProduct<T, 6>(table, z, out, count);
    case 7:
      return streamProduct<T, 7>(table, z, out, count);
    case 8:
      return streamProduct<T, 8>(table, z, out, count);
    default:
      break;
  }
  if (n <= static_cast<size_t>(lanesOf<T>)) return broadcastProduct<T, 1>(table, z, out, count, n);
  broadcastProduct<T, 2>(table, z, out, count, n);
}
