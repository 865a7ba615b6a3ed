// The arithmetic of plain TypeScript over lanes, for the text of msl/normal.h. Part of exhaustive.cc.

#if defined(__AVX512F__)
using HalfVector = __m256;
inline DoubleVector widened(HalfVector floats) { return (DoubleVector)_mm512_cvtps_pd(floats); }
inline HalfVector narrowed(DoubleVector doubles) { return _mm512_cvtpd_ps((__m512d)doubles); }
#else
using HalfVector = __m128;
inline DoubleVector widened(HalfVector floats) { return (DoubleVector)_mm256_cvtps_pd(floats); }
inline HalfVector narrowed(DoubleVector doubles) { return _mm256_cvtpd_ps((__m256d)doubles); }
#endif

// Floats as in plain TypeScript: doubles that are rounded again after each operation, as by Math.fround.
struct Fround {
  DoubleVector low, high;
  Fround() = default;
  Fround(DoubleVector low, DoubleVector high) : low(widened(narrowed(low))), high(widened(narrowed(high))) {}
  explicit Fround(Float value) {
    HalfVector halves[2];
    memcpy(halves, &value, sizeof halves);
    low = widened(halves[0]);
    high = widened(halves[1]);
  }
  explicit Fround(float every) : Fround(Float(every)) {}
  explicit Fround(Int value) : Fround(Float(value)) {}
  Float toFloat() const {
    const HalfVector halves[2] = {narrowed(low), narrowed(high)};
    Float value;
    memcpy(&value, halves, sizeof halves);
    return value;
  }
};
inline Fround operator+(Fround a, Fround b) { return {a.low + b.low, a.high + b.high}; }
inline Fround operator-(Fround a, Fround b) { return {a.low - b.low, a.high - b.high}; }
inline Fround operator*(Fround a, Fround b) { return {a.low * b.low, a.high * b.high}; }
inline Fround operator-(Fround a) { return {-a.low, -a.high}; }
inline Fround fma(Fround a, Fround b, Fround c) { return {a.low * b.low + c.low, a.high * b.high + c.high}; }
inline Fround select(Fround no, Fround yes, Mask condition) {
  return Fround(select(no.toFloat(), yes.toFloat(), condition));
}
template <typename To>
inline To as_type(Fround from) {
  return as_type<To>(from.toFloat());
}
template <>
inline Fround as_type<Fround>(Word from) {
  return Fround(as_type<Float>(from));
}
inline Float toFloat(Float value) { return value; }
inline Float toFloat(Fround value) { return value.toFloat(); }
