// Work on rows: a few rows of mean + factor z by dot products with the rows of the factor, which is read once; a
// matrix by a vector; a row added to all rows; sums of squares. Part of kernels.cc.

// Four rows i .. i + 3 of the factor share the loads of z.
template <typename T, size_t count>
static inline void dotRows(const T* factor, const T* mean, const T* z, T* out, size_t n, size_t i) {
  constexpr size_t lanes = lanesOf<T>, rows = 4;
  Vector<T> sum[rows][count] = {};
  size_t k = 0;
  for (; k + lanes <= i + 1; k += lanes) {
    for (size_t r = 0; r < rows; ++r) {
      const Vector<T> l = load(factor + (i + r) * n + k);
      for (size_t c = 0; c < count; ++c) sum[r][c] = multiplyAdd(l, load(z + c * n + k), sum[r][c]);
    }
  }
  for (; k < i + rows; k += lanes) {  // what is left of each row ends at its diagonal: nothing above it is read
    for (size_t r = 0; r < rows; ++r) {
      if (k > i + r) continue;
      const size_t left = i + r + 1 - k < lanes ? i + r + 1 - k : lanes;
      const Vector<T> l = loadFirst(factor + (i + r) * n + k, left);
      for (size_t c = 0; c < count; ++c) sum[r][c] = multiplyAdd(l, loadFirst(z + c * n + k, left), sum[r][c]);
    }
  }
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < count; ++c) out[c * n + i + r] = mean[i + r] + sumLanes(sum[r][c]);
}

template <typename T, size_t count>
static void fewRowsOf(const T* factor, const T* mean, const T* z, T* out, size_t n, size_t first, size_t last,
                      bool backward) {
  const size_t fours = (last - first) / 4;
  for (size_t i = first + 4 * fours; i < last; ++i) {
    for (size_t c = 0; c < count; ++c) {
      T sum = T(0);
      for (size_t k = 0; k <= i; ++k) sum += factor[i * n + k] * z[c * n + k];
      out[c * n + i] = mean[i] + sum;
    }
  }
  for (size_t four = 0; four < fours; ++four) {
    dotRows<T, count>(factor, mean, z, out, n, first + 4 * (backward ? fours - 1 - four : four));
  }
}

template <typename T>
static void fewRows(const T* factor, const T* mean, const T* z, T* out, size_t count, size_t n, size_t first,
                    size_t last, bool backward) {
  switch (count) {
    case 1:
      return fewRowsOf<T, 1>(factor, mean, z, out, n, first, last, backward);
    case 2:
      return fewRowsOf<T, 2>(factor, mean, z, out, n, first, last, backward);
    case 3:
      return fewRowsOf<T, 3>(factor, mean, z, out, n, first, last, backward);
    default:
      return fewRowsOf<T, 4>(factor, mean, z, out, n, first, last, backward);
  }
}

// The products of `rows` rows of k with x, which share the loads of x.
template <typename T, size_t rows>
static inline void rowsByVector(const T* matrix, const T* x, T* sums, size_t k) {
  constexpr size_t lanes = lanesOf<T>;
  Vector<T> sum[rows] = {};
  size_t at = 0;
  for (; at + lanes <= k; at += lanes) {
    const Vector<T> here = load(x + at);
    COVARIUM_UNROLL for (size_t r = 0; r < rows; ++r) sum[r] = multiplyAdd(load(matrix + r * k + at), here, sum[r]);
  }
  if (at < k) {
    const Vector<T> here = loadFirst(x + at, k - at);
    COVARIUM_UNROLL for (size_t r = 0; r < rows; ++r) sum[r] =
        multiplyAdd(loadFirst(matrix + r * k + at, k - at), here, sum[r]);
  }
  COVARIUM_UNROLL for (size_t r = 0; r < rows; ++r) sums[r] = sumLanes(sum[r]);
}

template <typename T>
static void matrixVector(const T* matrix, const T* x, T* y, size_t count, size_t k, T alpha, T beta, bool backward) {
  constexpr size_t group = 8;
  const auto rows = [&](size_t first, auto size) {
    T sums[size];
    rowsByVector<T, size>(matrix + first * k, x, sums, k);
    for (size_t r = 0; r < size; ++r) y[first + r] = alpha * sums[r] + (beta == 0 ? T(0) : beta * y[first + r]);
  };
  const size_t groups = count / group;
  for (size_t i = 0; i < groups; ++i)
    rows(group * (backward ? groups - 1 - i : i), std::integral_constant<size_t, group>());
  for (size_t i = groups * group; i < count; ++i) rows(i, std::integral_constant<size_t, 1>());
}

template <typename T>
static void addRow(T* __restrict rows, const T* __restrict row, T scale, size_t count, size_t n) {
  for (size_t r = 0; r < count; ++r, rows += n)
    for (size_t j = 0; j < n; ++j) rows[j] = fma(scale, row[j], rows[j]);
}

template <typename T>
static void scaleColumns(T* __restrict rows, const T* __restrict row, size_t count, size_t n) {
  for (size_t r = 0; r < count; ++r, rows += n)
    for (size_t j = 0; j < n; ++j) rows[j] *= row[j];
}

template <typename T>
static void squaredNorms(const T* rows, T* out, size_t count, size_t n) {
  for (size_t r = 0; r < count; ++r) {
    const T* x = rows + r * n;
    Vector<T> sum = {};
    size_t k = 0;
    for (; k + lanesOf<T> <= n; k += lanesOf<T>) sum = multiplyAdd(load(x + k), load(x + k), sum);
    T total = sumLanes(sum);
    for (; k < n; ++k) total += x[k] * x[k];
    out[r] = total;
  }
}
