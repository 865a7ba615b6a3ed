#include "between.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace covarium::cpu {

namespace {

// A row of few columns is compared together with some others, as one long row whose limits repeat.
constexpr size_t leastPeriod = 64;
constexpr size_t taskElements = 1 << 15, cachedElements = 1 << 13;

// What one task finds: counts by bracket and place in the period, and numbers within a bracket with their slot.
template <typename T>
class Found {
 public:
  Found(const Execution& execution, const Brackets<T>& brackets, const std::vector<T>& limits, size_t period)
      : execution_(execution), brackets_(brackets), limits_(limits), period_(period) {}

  // `period` is that of the limits, or the length of one row.
  void search(const T* rows, size_t periods, size_t period) {
    below_.resize(brackets_.count * period_);
    hits_.resize(periods);
    for (size_t b = 0; b < brackets_.count; ++b) {
      const T *lower = &limits_[b * period_], *upper = lower + brackets_.count * period_;
      const size_t hits = execution_.kernels.of<T>().countBetween(rows, periods, period, lower, upper,
                                                                  &below_[b * period_], hits_.data());
      for (size_t hit = 0; hit < hits; ++hit) {
        const T* x = rows + hits_[hit] * period;
        for (size_t i = 0; i < period; ++i)
          if (x[i] >= lower[i] && x[i] <= upper[i]) within_.push_back({b * brackets_.n + i % brackets_.n, x[i]});
      }
    }
  }

  // Adds the results to what all tasks share.
  void add() const {
    const size_t slots = brackets_.count * brackets_.n, n = brackets_.n;
    for (size_t i = 0; i < below_.size(); ++i)
      brackets_.counts[i / period_ * n + i % period_ % n] += static_cast<uint32_t>(below_[i]);
    for (const auto& [slot, value] : within_) {
      const uint32_t place = brackets_.counts[slots + slot]++;
      if (place < brackets_.capacity) brackets_.kept[slot * brackets_.capacity + place] = value;
    }
  }

 private:
  const Execution& execution_;
  const Brackets<T>& brackets_;
  const std::vector<T>& limits_;
  size_t period_;
  std::vector<CountOf<T>> below_;
  std::vector<uint32_t> hits_;
  std::vector<std::pair<size_t, T>> within_;
};

}  // namespace

template <typename T>
void countBetween(const Execution& execution, const T* rows, const Brackets<T>& brackets, size_t count) {
  const size_t n = brackets.n, repeats = std::max<size_t>(1, leastPeriod / n), period = n * repeats;
  std::vector<T> limits(2 * brackets.count * period);
  for (size_t i = 0; i < limits.size(); ++i) limits[i] = brackets.limits[i / period * n + i % n];
  const size_t periods = count / repeats, ofTask = std::max<size_t>(1, taskElements / period);
  const size_t cached = std::max<size_t>(1, cachedElements / period), tasks = (periods + ofTask - 1) / ofTask;
  std::mutex mutex;
  // The last task has the remaining rows, which do not fill a period.
  execution.pool.run(tasks + 1, [&](size_t task, unsigned) {
    execution.stopIfCancelled();
    Found<T> found(execution, brackets, limits, period);
    const size_t end = std::min(periods, (task + 1) * ofTask);
    for (size_t first = task * ofTask; first < end; first += cached)
      found.search(rows + first * period, std::min(cached, end - first), period);
    if (task == tasks) found.search(rows + periods * period, count - periods * repeats, n);
    std::lock_guard<std::mutex> lock(mutex);
    found.add();
  });
}

template <typename T>
void selectRanks(const Execution& execution, T* kept, size_t capacity, const uint32_t* lengths, const uint32_t* ranks,
                 T* out, size_t slots) {
  execution.pool.run(slots, [&](size_t slot, unsigned) {
    execution.stopIfCancelled();
    T* first = kept + slot * capacity;
    const size_t length = std::min<size_t>(lengths[slot], capacity), rank = ranks[slot];
    if (rank >= length) return;
    std::nth_element(first, first + rank, first + length);
    out[slot] = first[rank];
  });
}

template void selectRanks(const Execution&, float*, size_t, const uint32_t*, const uint32_t*, float*, size_t);
template void selectRanks(const Execution&, double*, size_t, const uint32_t*, const uint32_t*, double*, size_t);
template void countBetween(const Execution&, const float*, const Brackets<float>&, size_t);
template void countBetween(const Execution&, const double*, const Brackets<double>&, size_t);

}  // namespace covarium::cpu
