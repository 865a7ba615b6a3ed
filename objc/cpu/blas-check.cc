#include "blas-check.h"

#include <algorithm>
#include <vector>

namespace covarium::cpu {

namespace {

// Around the sides of the tiles that libraries cut their work into.
constexpr int sides[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 33, 49, 65};
constexpr int sideCount = sizeof sides / sizeof *sides;
constexpr int depths[] = {1, 3, 64, 131};
constexpr int order = 67;  // of the triangles
constexpr int columns = 5;

// Small whole numbers: all their sums are exact, in any order in which a library takes them.
template <typename T>
std::vector<T> wholeNumbers(size_t count) {
  std::vector<T> values(count);
  unsigned state = 1;
  for (T& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<T>(static_cast<int>(state >> 24) % 7 - 3);
  }
  return values;
}

// A column-major matrix, as in BLAS.
template <typename T>
struct Columns {
  std::vector<T> values;
  int rows;
  T at(int i, int j) const { return values[static_cast<size_t>(j) * rows + i]; }
};

template <typename T>
std::string wrongRoutine(const BlasRoutines<T>& blas, const std::string& prefix) {
  const T one = 1, zero = 0, minusOne = -1;
  const int step = 1;
  const auto refuse = [&](const char* name, int m, int n, int k) {
    return prefix + name + " of (" + std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) + ")";
  };
  for (int at = 0; at < 2 * sideCount; ++at) {
    const int m = sides[at % sideCount], n = sides[(7 * at + at / sideCount) % sideCount], k = depths[at % 4];
    const bool turnedA = at % 2 == 1, turnedB = at % 3 == 1, adds = at % 5 == 1;
    const Columns<T> a = {wholeNumbers<T>(size_t(m) * k), turnedA ? k : m};
    const Columns<T> b = {wholeNumbers<T>(size_t(k) * n), turnedB ? n : k};
    const T beta = adds ? one : zero;
    std::vector<T> c(size_t(m) * n, T(2));
    blas.gemm(turnedA ? "T" : "N", turnedB ? "T" : "N", &m, &n, &k, &minusOne, a.values.data(), &a.rows,
              b.values.data(), &b.rows, &beta, c.data(), &m);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        T sum = adds ? T(2) : zero;
        for (int l = 0; l < k; ++l) sum -= (turnedA ? a.at(l, i) : a.at(i, l)) * (turnedB ? b.at(j, l) : b.at(l, j));
        if (c[size_t(j) * m + i] != sum) return refuse("gemm", m, n, k);
      }
    }
  }

  // An upper triangle with powers of 2 on its diagonal, by which division is exact; nothing below it may be read.
  Columns<T> upper = {wholeNumbers<T>(order * order), order};
  for (int j = 0; j < order; ++j) {
    for (int i = j + 1; i < order; ++i) upper.values[j * order + i] = T(1e6);
    upper.values[j * order + j] = T(1 << j % 3);
  }
  const Columns<T> x = {wholeNumbers<T>(order * columns), order};
  const auto entry = [&](int i, int j) { return i <= j ? upper.at(i, j) : zero; };
  for (const bool turned : {false, true}) {
    const char* trans = turned ? "T" : "N";
    std::vector<T> product(order * columns);
    for (int c = 0; c < columns; ++c)
      for (int i = 0; i < order; ++i)
        for (int l = 0; l < order; ++l) product[c * order + i] += (turned ? entry(l, i) : entry(i, l)) * x.at(l, c);
    std::vector<T> rows = x.values;
    blas.trmm("L", "U", trans, "N", &order, &columns, &one, upper.values.data(), &order, rows.data(), &order);
    if (rows != product) return refuse("trmm", order, columns, order);
    blas.trsm("L", "U", trans, "N", &order, &columns, &one, upper.values.data(), &order, rows.data(), &order);
    if (rows != x.values) return refuse("trsm", order, columns, order);
    std::vector<T> vector(order), whole = wholeNumbers<T>(order * order);
    blas.gemv(trans, &order, &order, &one, whole.data(), &order, x.values.data(), &step, &zero, vector.data(), &step);
    for (int i = 0; i < order; ++i) {
      T sum = 0;
      for (int l = 0; l < order; ++l) sum += (turned ? whole[i * order + l] : whole[l * order + i]) * x.at(l, 0);
      if (vector[i] != sum) return refuse("gemv", order, 1, order);
    }
  }

  // U' U, whose factor is U.
  std::vector<T> square(order * order);
  for (int j = 0; j < order; ++j)
    for (int i = 0; i <= j; ++i)
      for (int l = 0; l <= i; ++l) square[j * order + i] += entry(l, i) * entry(l, j);
  int info = 0;
  std::vector<T> factor = square;
  blas.potrf("U", &order, factor.data(), &order, &info);
  for (int j = 0; j < order; ++j)
    for (int i = 0; i <= j; ++i)
      if (info != 0 || factor[j * order + i] != upper.at(i, j)) return refuse("potrf", order, order, order);
  std::vector<T> clean = upper.values, left(order * order);
  for (int j = 0; j < order; ++j) std::fill(clean.begin() + j * order + j + 1, clean.begin() + (j + 1) * order, zero);
  blas.syrk("U", "T", &order, &order, &one, clean.data(), &order, &zero, left.data(), &order);
  if (left != square) return refuse("syrk", order, order, order);
  return "";
}

}  // namespace

std::string wrongRoutine(const Blas& library) {
  const std::string wrong = wrongRoutine(library.float32, "s");
  return wrong.empty() ? wrongRoutine(library.float64, "d") : wrong;
}

}  // namespace covarium::cpu
