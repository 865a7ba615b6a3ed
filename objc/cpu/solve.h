// Rows x <- y with factor y = x, for a factor of at most solveLimit columns, where a library's trsm runs at a fifth of
// its product's rate. Rows are transposed on the way, so that a vector holds one coordinate of many rows. Part of
// kernels.cc.

constexpr size_t solveLimit = 128;

template <typename T>
static inline void transpose(Vector<T> (&v)[lanesOf<T>]) {
  constexpr size_t lanes = lanesOf<T>;
  T across[lanes][lanes];
  for (size_t r = 0; r < lanes; ++r)
    for (size_t c = 0; c < lanes; ++c) across[c][r] = v[r][c];
  for (size_t r = 0; r < lanes; ++r) v[r] = load(across[r]);
}

#if defined(__AVX512F__)
template <>
inline __attribute__((always_inline)) void transpose<float>(Vector<float> (&v)[16]) {
  __m512 pairs[16], quads[16];
  COVARIUM_UNROLL for (int r = 0; r < 16; r += 2) {
    pairs[r] = _mm512_unpacklo_ps((__m512)v[r], (__m512)v[r + 1]);
    pairs[r + 1] = _mm512_unpackhi_ps((__m512)v[r], (__m512)v[r + 1]);
  }
  COVARIUM_UNROLL for (int r = 0; r < 16; r += 4) {
    const auto unpack = [&](int into, int from, bool upper) __attribute__((always_inline)) {
      const __m512d a = _mm512_castps_pd(pairs[r + from]), b = _mm512_castps_pd(pairs[r + from + 2]);
      quads[r + into] = _mm512_castpd_ps(upper ? _mm512_unpackhi_pd(a, b) : _mm512_unpacklo_pd(a, b));
    };
    unpack(0, 0, false);
    unpack(1, 0, true);
    unpack(2, 1, false);
    unpack(3, 1, true);
  }
  // quads[4 q + c]: in 128-bit part p, rows 4 q .. 4 q + 3 of column 4 p + c.
  COVARIUM_UNROLL for (int c = 0; c < 4; ++c) {
    const __m512 low02 = _mm512_shuffle_f32x4(quads[c], quads[4 + c], 0x88);
    const __m512 low13 = _mm512_shuffle_f32x4(quads[c], quads[4 + c], 0xdd);
    const __m512 high02 = _mm512_shuffle_f32x4(quads[8 + c], quads[12 + c], 0x88);
    const __m512 high13 = _mm512_shuffle_f32x4(quads[8 + c], quads[12 + c], 0xdd);
    v[c] = (FloatVector)_mm512_shuffle_f32x4(low02, high02, 0x88);
    v[4 + c] = (FloatVector)_mm512_shuffle_f32x4(low13, high13, 0x88);
    v[8 + c] = (FloatVector)_mm512_shuffle_f32x4(low02, high02, 0xdd);
    v[12 + c] = (FloatVector)_mm512_shuffle_f32x4(low13, high13, 0xdd);
  }
}
#endif

// `columns` is n x (groups lanes): coordinate j of all rows. Coordinates [j, j + height) at once.
template <typename T, size_t groups, size_t height>
static inline void solveCoordinates(const T* factor, size_t stride, T* columns, size_t j) {
  constexpr size_t lanes = lanesOf<T>, width = groups * lanes;
  Vector<T> x[height][groups];
  COVARIUM_UNROLL for (size_t i = 0; i < height; ++i) {
    COVARIUM_UNROLL for (size_t g = 0; g < groups; ++g) x[i][g] = load(columns + (j + i) * width + g * lanes);
  }
  for (size_t k = 0; k < j; ++k) {
    COVARIUM_UNROLL for (size_t i = 0; i < height; ++i) {
      const Vector<T> l = broadcast(factor[(j + i) * stride + k]);
      COVARIUM_UNROLL for (size_t g = 0; g < groups; ++g) x[i][g] =
          multiplyAdd(-l, load(columns + k * width + g * lanes), x[i][g]);
    }
  }
  COVARIUM_UNROLL for (size_t i = 0; i < height; ++i) {
    const Vector<T> reciprocal = broadcast(T(1) / factor[(j + i) * stride + j + i]);
    COVARIUM_UNROLL for (size_t g = 0; g < groups; ++g) {
      x[i][g] *= reciprocal;
      COVARIUM_UNROLL for (size_t below = i + 1; below < height; ++below) {
        x[below][g] = multiplyAdd(-broadcast(factor[(j + below) * stride + j + i]), x[i][g], x[below][g]);
      }
      store(columns + (j + i) * width + g * lanes, x[i][g]);
    }
  }
}

// Between rows (at most groups lanes of them) and columns, by square tiles.
template <typename T, size_t groups, bool gather>
static inline void exchangeTiles(T* rows, size_t stride, size_t count, size_t n, T* columns) {
  constexpr size_t lanes = lanesOf<T>, width = groups * lanes;
  for (size_t g = 0; g < groups && g * lanes < count; ++g) {
    const size_t height = count - g * lanes < lanes ? count - g * lanes : lanes;
    for (size_t j = 0; j < n; j += lanes) {
      const size_t wide = n - j < lanes ? n - j : lanes;
      T* corner = rows + g * lanes * stride + j;
      Vector<T> tile[lanes] = {};
      if (gather) {
        for (size_t r = 0; r < height; ++r)
          tile[r] = wide == lanes ? load(corner + r * stride) : loadFirst(corner + r * stride, wide);
        transpose<T>(tile);
        for (size_t c = 0; c < wide; ++c) store(columns + (j + c) * width + g * lanes, tile[c]);
      } else {
        for (size_t c = 0; c < wide; ++c) tile[c] = load(columns + (j + c) * width + g * lanes);
        transpose<T>(tile);
        for (size_t r = 0; r < height; ++r) storeFirst(corner + r * stride, tile[r], wide);
      }
    }
  }
}

template <typename T>
static void solveRows(const T* factor, size_t factorStride, T* rows, size_t stride, size_t count, size_t n) {
  constexpr size_t groups = 2, lanes = lanesOf<T>;
  constexpr size_t height = laneCount == 8 ? 4 : 6;  // vectors of sums: 8 of 16, or 12 of 32
  alignas(64) T columns[solveLimit * groups * lanes] = {};
  for (size_t r = 0; r < count; r += groups * lanes) {
    const size_t here = count - r < groups * lanes ? count - r : groups * lanes;
    exchangeTiles<T, groups, true>(rows + r * stride, stride, here, n, columns);
    size_t j = 0;
    for (; j + height <= n; j += height) solveCoordinates<T, groups, height>(factor, factorStride, columns, j);
    for (; j < n; ++j) solveCoordinates<T, groups, 1>(factor, factorStride, columns, j);
    exchangeTiles<T, groups, false>(rows + r * stride, stride, here, n, columns);
  }
}
