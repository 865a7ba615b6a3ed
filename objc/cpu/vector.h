// Vectors of either real type, for code that is written once for both. Part of kernels.cc.

// Before a loop over an array of vectors: unrolled whole, the array is registers.
#if defined(__clang__)
#define COVARIUM_UNROLL _Pragma("clang loop unroll(full)")
#else
#define COVARIUM_UNROLL _Pragma("GCC unroll 32")
#endif

template <typename T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = FloatVector;
  static constexpr int lanes = laneCount;
};
template <>
struct VectorOf<double> {
  using Type = DoubleVector;
  static constexpr int lanes = laneCount / 2;
};

template <typename T>
using Vector = typename VectorOf<T>::Type;
template <typename T>
constexpr int lanesOf = VectorOf<T>::lanes;

template <typename T>
static inline Vector<T> load(const T* from) {
  Vector<T> v;
  memcpy(&v, from, sizeof v);
  return v;
}

template <typename T>
static inline void store(T* to, Vector<T> v) {
  memcpy(to, &v, sizeof v);
}

template <typename T>
static inline Vector<T> broadcast(T every) {
  return every - Vector<T>{};  // x - 0 is x for every x, and so no instruction; x + 0 is not for -0
}

#if defined(__AVX512F__)
static inline FloatVector multiplyAdd(FloatVector a, FloatVector b, FloatVector c) {
  return (FloatVector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
static inline DoubleVector multiplyAdd(DoubleVector a, DoubleVector b, DoubleVector c) {
  return (DoubleVector)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
static inline float sumLanes(FloatVector v) { return _mm512_reduce_add_ps((__m512)v); }
static inline double sumLanes(DoubleVector v) { return _mm512_reduce_add_pd((__m512d)v); }
// The first `count` elements, and 0 in the lanes behind them, whose memory is not touched.
static inline FloatVector loadFirst(const float* from, size_t count) {
  return (FloatVector)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from);
}
static inline DoubleVector loadFirst(const double* from, size_t count) {
  return (DoubleVector)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), from);
}
static inline void storeFirst(float* to, FloatVector v, size_t count) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), (__m512)v);
}
static inline void storeFirst(double* to, DoubleVector v, size_t count) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << count) - 1), (__m512d)v);
}
#else
template <typename V>
static inline V multiplyAdd(V a, V b, V c) {
#if defined(__AVX2__)
  if constexpr (std::is_same_v<V, FloatVector>) {
    return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
  } else {
    return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
  }
#else
  return a * b + c;  // rounding is free here: no bits are promised for products
#endif
}
template <typename V>
static inline auto sumLanes(V v) {
  auto sum = v[0];
  for (size_t lane = 1; lane < sizeof v / sizeof v[0]; ++lane) sum += v[lane];
  return sum;
}
template <typename T>
static inline Vector<T> loadFirst(const T* from, size_t count) {
  T lanes[lanesOf<T>] = {};
  memcpy(lanes, from, count * sizeof(T));
  return load(lanes);
}
template <typename T>
static inline void storeFirst(T* to, Vector<T> v, size_t count) {
  memcpy(to, &v, count * sizeof(T));
}
#endif
