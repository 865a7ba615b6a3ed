// mean + factor z for many rows of few columns, where a BLAS call would cost more than its work. Part of kernels.cc.
//
// Up to 8 columns: the rows are one stream, y[e] = mean + sum over d of L[j][j - d] z[e - d] with j = e mod n, so that
// each coefficient is a vector that repeats after n / gcd(n, lanes) vectors. Beyond: a row of L' times a broadcast z.

template <typename T>
constexpr size_t narrowLimit = (laneCount == 16 ? 7 : 4) * lanesOf<T>;  // measured: beyond, trmm is quicker
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
constexpr size_t vectorsOf(size_t n) {
  return (n + lanesOf<T> - 1) / lanesOf<T>;
}

template <typename T>
static size_t narrowTableLength(size_t n) {
  const size_t lanes = lanesOf<T>;
  return n <= streamLimit ? (n + 1) * periodOf(n, lanes) * lanes : (n + 1) * vectorsOf<T>(n) * lanes;
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
  const size_t width = vectorsOf<T>(n) * lanes;
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

// `rows` rows of `vectors` vectors each, in place, all in registers.
template <typename T, size_t vectors, size_t rows>
static inline void broadcastRows(const T* __restrict table, T* __restrict z, size_t n) {
  constexpr size_t lanes = lanesOf<T>, width = vectors * lanes, before = width - lanes;
  Vector<T> y[rows][vectors];
  COVARIUM_UNROLL for (size_t r = 0; r < rows; ++r) {
    COVARIUM_UNROLL for (size_t v = 0; v < vectors; ++v) y[r][v] = load(table + v * lanes);
  }
  // Column k of the factor has no entries above row k: the vectors before its own are left out.
  COVARIUM_UNROLL for (size_t first = 0; first < vectors; ++first) {
    const size_t end = first + 1 < vectors ? (first + 1) * lanes : n;
    for (size_t k = first * lanes; k < end; ++k) {
      const T* column = table + (k + 1) * width;
      COVARIUM_UNROLL for (size_t r = 0; r < rows; ++r) {
        const Vector<T> zk = broadcast(z[r * n + k]);
        COVARIUM_UNROLL for (size_t v = first; v < vectors; ++v) y[r][v] =
            multiplyAdd(zk, load(column + v * lanes), y[r][v]);
      }
    }
  }
  COVARIUM_UNROLL for (size_t r = 0; r < rows; ++r) {
    COVARIUM_UNROLL for (size_t v = 0; v + 1 < vectors; ++v) store(z + r * n + v * lanes, y[r][v]);
    storeFirst(z + r * n + before, y[r][vectors - 1], n - before);
  }
}

template <typename T, size_t vectors>
static void broadcastProduct(const T* table, T* z, size_t count, size_t n) {
  constexpr size_t registers = laneCount == 8 ? 12 : 28;  // for sums, of 16 or 32 in all
  constexpr size_t group = vectors == 1 ? 8 : registers / vectors;
  size_t r = 0;
  for (; r + group <= count; r += group) broadcastRows<T, vectors, group>(table, z + r * n, n);
  for (; r < count; ++r) broadcastRows<T, vectors, 1>(table, z + r * n, n);
}

// streamed: out = mean + L z, n at most streamLimit.
template <typename T>
static void streamedProduct(const T* table, const T* z, T* out, size_t count, size_t n) {
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
    default:
      return streamProduct<T, 8>(table, z, out, count);
  }
}

// In place: rows z of out become mean + L z, n beyond streamLimit.
template <typename T>
static void narrowProduct(const T* table, T* rows, size_t count, size_t n) {
  switch (vectorsOf<T>(n)) {
    case 1:
      return broadcastProduct<T, 1>(table, rows, count, n);
    case 2:
      return broadcastProduct<T, 2>(table, rows, count, n);
    case 3:
      return broadcastProduct<T, 3>(table, rows, count, n);
    case 4:
      return broadcastProduct<T, 4>(table, rows, count, n);
    case 5:
      return broadcastProduct<T, 5>(table, rows, count, n);
    case 6:
      return broadcastProduct<T, 6>(table, rows, count, n);
    default:
      return broadcastProduct<T, 7>(table, rows, count, n);
  }
}
