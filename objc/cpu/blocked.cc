#include "blocked.h"

#include "lapack-call.h"

namespace covarium::cpu {

namespace {

// Runs `ahead` and the shares of `columns` columns from `begin` on: `ahead` factors the next panel while the other
// columns still take the products of the panel before.
template <typename Ahead, typename Share>
void runBeside(const Execution& execution, bool hasAhead, size_t begin, size_t columns, size_t share,
               const Ahead& ahead, const Share& body) {
  const size_t shares = (columns - begin + share - 1) / share, before = hasAhead ? 1 : 0;
  execution.pool.run(shares + before, [&](size_t task, unsigned) {
    execution.stopIfCancelled();
    if (task < before) return ahead();
    const size_t from = begin + (task - before) * share;
    body(from, std::min(share, columns - from));
  });
}

}  // namespace

template <typename T>
void factorColumns(const Execution& execution, T* a, size_t stride, size_t length, size_t columns,
                   Reflections<T>& reflections) {
  constexpr size_t width = Reflections<T>::width;
  const size_t count = std::min(length, columns);
  const int lda = blasInt(stride);
  std::vector<T> tau(count);
  const auto factorPanel = [&](size_t first) {
    const int rows = blasInt(length - first), wide = blasInt(std::min(width, count - first));
    withWork<T>("geqrf", [&](T* work, const int* lwork, int* info) {
      execution.blas.lapack<T>().geqrf(&rows, &wide, a + first * stride + first, &lda, tau.data() + first, work, lwork,
                                       info);
    });
    reflections.prepare(execution, first, tau.data());
  };
  factorPanel(0);
  for (size_t first = 0; first < count; first += width) {
    const size_t next = std::min(first + width, count), ahead = std::min(width, count - next);
    const auto take = [&](size_t from, size_t wide) {
      reflections.apply(execution, first, true, a + from * stride, stride, wide);
    };
    runBeside(
        execution, ahead != 0, next + ahead, columns, Reflections<T>::share,
        [&] {
          take(next, ahead);
          factorPanel(next);
        },
        take);
  }
}

template <typename T>
void blockedEigen(const Execution& execution, T* a, T* values, size_t n) {
  // The reflections of the lower triangle are those of a QR decomposition.
  constexpr size_t side = 64;
  const size_t blocks = (n + side - 1) / side;
  std::vector<double> largest(blocks);
  execution.pool.run(blocks, [&](size_t block, unsigned) {
    const size_t first = block * side, last = std::min(n, first + side);
    T most = 0;
    for (size_t row = 0; row < last; row += side)
      for (size_t j = first; j < last; ++j)
        for (size_t i = row; i < std::min(j + 1, row + side); ++i) {
          a[i * n + j] = a[j * n + i];
          most = std::max(most, std::abs(a[j * n + i]));
        }
    largest[block] = most;
  });
  const double scale = scaleFor<T>(*std::max_element(largest.begin(), largest.end()));
  if (scale != 1)
    for (size_t i = 0; i < n * n; ++i) a[i] = static_cast<T>(a[i] * scale);

  const auto& lapack = execution.blas.lapack<T>();
  const int order = blasInt(n);
  std::vector<T> beside(n), tau(n), vectors(n * n);
  withWork<T>("sytrd", [&](T* work, const int* lwork, int* info) {
    lapack.sytrd("L", &order, a, &order, values, beside.data(), tau.data(), work, lwork, info);
  });
  execution.stopIfCancelled();
  T size = 0;
  int integers = 0, query = -1, info = 0;
  lapack.stedc("I", &order, values, beside.data(), vectors.data(), &order, &size, &query, &integers, &query, &info);
  requireDone("stedc", info);
  const int length = workLength(size);
  std::vector<T> work(length);
  std::vector<int> iwork(integers);
  lapack.stedc("I", &order, values, beside.data(), vectors.data(), &order, work.data(), &length, iwork.data(),
               &integers, &info);
  requireDone("stedc", info);
  execution.stopIfCancelled();
  Reflections<T> reflections(a + 1, n, n - 1, n - 1);
  reflections.prepareAll(execution, tau.data());
  reflections.applyAll(execution, vectors.data() + 1, n, n, false);
  std::copy(vectors.begin(), vectors.end(), a);
  if (scale != 1)
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(values[i] / scale);
}

namespace {

constexpr size_t luWidth = 64;
// Columns that one thread takes at a time.
constexpr size_t luShare = 128;

template <typename T>
void swapRows(T* columns, size_t stride, size_t count, const int* swaps, size_t first, size_t last) {
  for (size_t j = 0; j < count; ++j) {
    T* column = columns + j * stride;
    for (size_t i = first; i < last; ++i)
      if (static_cast<size_t>(swaps[i]) != i) std::swap(column[i], column[swaps[i]]);
  }
}

}  // namespace

template <typename T>
void blockedLu(const Execution& execution, T* a, int* swaps, size_t n) {
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  const int stride = blasInt(n);
  // The unit triangle of a panel, as rows: of two panels, since the next is made while this one is used.
  std::vector<T> triangles(2 * luWidth * luWidth);
  const auto triangleOf = [&](size_t first) { return triangles.data() + first / luWidth % 2 * luWidth * luWidth; };
  const auto factorPanel = [&](size_t first) {
    const size_t wide = std::min(luWidth, n - first);
    T* panel = a + first * n + first;
    kernels.factorLu(panel, n, wide, n - first, swaps + first);
    for (size_t i = 0; i < wide; ++i) swaps[first + i] += static_cast<int>(first);
    T* triangle = triangleOf(first);
    for (size_t i = 0; i < wide; ++i) {
      for (size_t k = 0; k < i; ++k) triangle[i * wide + k] = panel[k * n + i];
      triangle[i * wide + i] = 1;
    }
  };
  factorPanel(0);
  for (size_t first = 0; first < n; first += luWidth) {
    const size_t next = std::min(n, first + luWidth), ahead = std::min(luWidth, n - next), wide = next - first;
    const int rows = blasInt(n - next), depth = blasInt(wide);
    const T one = 1, minusOne = -1;
    const auto take = [&](size_t from, size_t count) {
      const int columns = blasInt(count);
      T* c = a + from * n;
      swapRows(c, n, count, swaps, first, next);
      kernels.solveRows(triangleOf(first), wide, c + first, n, count, wide);
      execution.blas.of<T>().gemm("N", "N", &rows, &columns, &depth, &minusOne, a + first * n + next, &stride,
                                  c + first, &stride, &one, c + next, &stride);
    };
    if (ahead == 0) break;
    runBeside(
        execution, true, next + ahead, n, luShare,
        [&] {
          take(next, ahead);
          factorPanel(next);
        },
        take);
  }
  // The panels have not seen the swaps of those after them.
  execution.pool.run((n - 1) / luWidth, [&](size_t panel, unsigned) {
    swapRows(a + panel * luWidth * n, n, luWidth, swaps, (panel + 1) * luWidth, n);
  });
}

template <typename T>
void blockedLuSolve(const Execution& execution, const T* lu, const int* swaps, T* x, size_t count, size_t n) {
  const int stride = blasInt(n);
  const T one = 1, minusOne = -1;
  forRowBlocks(execution, count, luShare, [&](size_t begin, size_t here, unsigned) {
    T* rows = x + begin * n;
    const int columns = blasInt(here);
    solveRowsForward(execution, lu, n, rows, n, here, n);
    // The other triangle has ones on its diagonal. In reverse order its rows are those of a lower one, which
    // solveRows takes.
    const size_t side = std::min(n, luWidth);
    std::vector<T> backward(side * side), reversed(here * side);
    for (size_t last = n; last > 0;) {
      execution.stopIfCancelled();
      const size_t wide = (last - 1) % luWidth + 1, first = last - wide;
      const int some = blasInt(wide), known = blasInt(n - last);
      if (last != n)
        execution.blas.of<T>().gemm("T", "N", &some, &columns, &known, &minusOne, lu + first * n + last, &stride,
                                    rows + last, &stride, &one, rows + first, &stride);
      for (size_t i = 0; i < wide; ++i) {
        for (size_t k = 0; k < i; ++k) backward[i * wide + k] = lu[(last - 1 - i) * n + last - 1 - k];
        backward[i * wide + i] = 1;
      }
      for (size_t r = 0; r < here; ++r)
        std::reverse_copy(rows + r * n + first, rows + r * n + last, reversed.data() + r * wide);
      solveRowsForward(execution, backward.data(), wide, reversed.data(), wide, here, wide);
      for (size_t r = 0; r < here; ++r)
        std::reverse_copy(reversed.data() + r * wide, reversed.data() + (r + 1) * wide, rows + r * n + first);
      last = first;
    }
    for (size_t r = 0; r < here; ++r)
      for (size_t i = n; i-- > 0;) std::swap(rows[r * n + i], rows[r * n + swaps[i]]);
  });
}

#define COVARIUM_BLOCKED(T)                                                                   \
  template void factorColumns(const Execution&, T*, size_t, size_t, size_t, Reflections<T>&); \
  template void blockedEigen(const Execution&, T*, T*, size_t);                               \
  template void blockedLu(const Execution&, T*, int*, size_t);                                \
  template void blockedLuSolve(const Execution&, const T*, const int*, T*, size_t, size_t);
COVARIUM_BLOCKED(float)
COVARIUM_BLOCKED(double)

}  // namespace covarium::cpu
