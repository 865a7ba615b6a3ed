// Few rows times a factor: all threads read it, each its share of the triangle, once for all rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "execution.h"

namespace covarium::cpu {

constexpr size_t fewRowsLimit = 16;   // beyond it, blocks of rows keep all threads busy
constexpr size_t aloneLimit = 30000;  // multiply-adds that are done before another thread has come

// Calls entries(first, last) on all threads, for shares of the triangle of `count` rows that take equal work.
template <typename Entries>
void forShares(const Execution& execution, size_t count, size_t n, const Entries& entries) {
  if (n * n * count / 2 < aloneLimit) return entries(0, n);
  const size_t shares = execution.pool.threads();
  constexpr size_t wide = columnBytes / sizeof(float);
  // Share s ends where the triangle's area is (s + 1) / shares of the whole.
  const auto endOf = [&](size_t share) {
    return share == shares
               ? n
               : static_cast<size_t>(static_cast<double>(n) * std::sqrt(double(share) / double(shares))) / wide * wide;
  };
  execution.pool.run(shares, [&](size_t share, unsigned) { entries(endOf(share), endOf(share + 1)); });
}

// out = mean + factor z for each of `count` rows; z and out are apart.
template <typename T>
void multiplyFewRows(const Execution& execution, const T* factor, const T* mean, const T* z, T* out, size_t count,
                     size_t n) {
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  // Passes go back and forth, so that what the last one read last is still in the cache. If all went the same way, it
  // would always be gone.
  static std::atomic<bool> turn{false};
  const bool backward = turn.exchange(!turn);
  const auto entries = [&](size_t first, size_t last) {
    constexpr size_t together = 32;
    const size_t steps = (last - first + together - 1) / together;
    for (size_t step = 0; step < steps; ++step) {
      const size_t from = first + together * (backward ? steps - 1 - step : step);
      kernels.multiplyOnto(factor, mean, z, out, count, n, from, std::min(last, from + together));
    }
  };
  forShares(execution, count, n, entries);
}

// The same for a factor that lies in columns (lib/factor/columns.ts); without a mean, out = factor z.
template <typename T>
void multiplyColumns(const Execution& execution, const T* columns, const T* mean, const T* z, T* out, size_t count,
                     size_t n) {
  forShares(execution, count, n, [&](size_t first, size_t last) {
    execution.kernels.of<T>().multiplyColumns(columns, mean, z, out, count, n, first, last);
  });
}

// Each of `count` rows x <- factor x.
template <typename T>
void multiplyFewRows(const Execution& execution, const T* factor, T* rows, size_t count, size_t n) {
  thread_local std::vector<T> z, zeros;
  z.assign(rows, rows + count * n);
  zeros.assign(n, T(0));
  multiplyFewRows(execution, factor, zeros.data(), z.data(), rows, count, n);
}

}  // namespace covarium::cpu
