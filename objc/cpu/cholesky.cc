#include "cholesky.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "condition.h"
#include "float-mode.h"
#include "pieces.h"
#include "spin.h"

namespace covarium::cpu {

namespace {

constexpr size_t leafOrder = 32;

[[noreturn]] void refusePivot(size_t pivot) {
  throw Failure::atPivot(static_cast<int64_t>(pivot),
                         "Matrix is not positive definite: pivot (" + std::to_string(pivot) + ") is not positive.");
}

template <typename T>
void refuseBadPivots(const T* a, size_t n, size_t offset, size_t order, int info) {
  size_t good = info > 0 ? static_cast<size_t>(info) - 1 : order;
  for (size_t i = 0; i < good; ++i) {
    const T pivot = a[(offset + i) * n + offset + i];
    if (!(pivot > 0) || !(pivot <= std::numeric_limits<T>::max())) good = i;  // a library may let NaN pass
  }
  if (good != order) refusePivot(offset + good);
}

// The diagonal block of `order` rows at `offset`, by halves: LAPACK's own recursion stops where its solves are slow,
// ours where they would not pay. A row-major lower factor is LAPACK's upper one.
template <typename T>
void factorBlock(const Execution& execution, T* a, size_t n, size_t offset, size_t order) {
  const int stride = blasInt(n);
  const auto& blas = execution.blas.of<T>();
  if (order <= leafOrder) {
    const size_t good = execution.kernels.of<T>().factorOne(a + offset * n + offset, n, order);
    if (good != order) refusePivot(offset + good);
    return;
  }
  if (execution.blas.hasMatrixUnit) {
    const int size = blasInt(order);
    int info = 0;
    blas.potrf("U", &size, a + offset * n + offset, &stride, &info);
    return refuseBadPivots(a, n, offset, order, info);
  }
  const size_t upper = (order / 2 + leafOrder - 1) / leafOrder * leafOrder, lower = order - upper;
  factorBlock(execution, a, n, offset, upper);
  const T* corner = a + offset * n + offset;
  T* below = a + (offset + upper) * n + offset;
  solveRowsForward(execution, corner, n, below, n, lower, upper);
  const int rows = blasInt(lower), depth = blasInt(upper);
  const T one = 1, minusOne = -1;
  blas.syrk("U", "T", &rows, &depth, &minusOne, below, &stride, &one, below + upper, &stride);
  factorBlock(execution, a, n, offset + upper, lower);
}

// The lower triangle in square tiles. A tile (i, j) takes the products of the tiles to its left, all that are ready in
// one call, and is then finished: on the diagonal by its own factorization, below it by a solve with the diagonal tile.
// Threads take what is ready, leftmost columns first, since everything waits for those.
template <typename T>
class TiledCholesky {
 public:
  TiledCholesky(const Execution& execution, T* a, size_t n, size_t size)
      : execution_(execution), a_(a), n_(n), size_(size), tiles_((n + size - 1) / size), state_(tiles_ * tiles_) {}

  void run() {
    left_ = tiles_ * (tiles_ + 1) / 2;
    execution_.pool.run(execution_.pool.threads(), [this](size_t, unsigned) { work(); });
  }

 private:
  struct Tile {
    size_t updates = 0;  // columns of tiles whose products it has taken
    bool busy = false, finished = false;
  };
  struct Step {
    size_t row, column, first,
        last;  // take the products of columns [first, last), then finish the tile if that was all
    bool finish;
  };

  Tile& tile(size_t i, size_t j) { return state_[i * tiles_ + j]; }
  size_t orderOf(size_t i) const { return std::min(size_, n_ - i * size_); }
  T* at(size_t i, size_t j) { return a_ + i * size_ * n_ + j * size_; }

  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    Step step;
    while (left_ != 0) {
      if (!next(step)) {
        // What it waits for mostly takes some 10 us: less than waking a thread that sleeps.
        const auto isChanged = [this, seen = changes_.load()] { return changes_ != seen; };
        lock.unlock();
        spinUntil(isChanged);
        lock.lock();
        changed_.wait(lock, isChanged);
        continue;
      }
      tile(step.row, step.column).busy = true;
      lock.unlock();
      try {
        execution_.stopIfCancelled();
        take(step);
      } catch (...) {
        lock.lock();
        left_ = 0;
        change();
        throw;
      }
      lock.lock();
      Tile& done = tile(step.row, step.column);
      done.busy = false;
      done.updates = step.last;
      done.finished = step.finish;
      if (step.finish && left_ != 0) --left_;
      change();
    }
  }

  void change() {
    ++changes_;
    changed_.notify_all();
  }

  bool next(Step& step) {
    while (firstColumn_ < tiles_ && columnFinished(firstColumn_)) ++firstColumn_;
    for (size_t j = firstColumn_; j < tiles_; ++j) {
      for (size_t i = j; i < tiles_; ++i) {
        const Tile& here = tile(i, j);
        if (here.busy || here.finished) continue;
        size_t last = here.updates;
        while (last < j && tile(i, last).finished && tile(j, last).finished) ++last;
        const bool finish = last == j && (i == j || tile(j, j).finished);
        if (last == here.updates && !finish) continue;
        step = {i, j, here.updates, last, finish};
        return true;
      }
    }
    return false;
  }

  bool columnFinished(size_t j) {
    for (size_t i = j; i < tiles_; ++i)
      if (!tile(i, j).finished) return false;
    return true;
  }

  void take(const Step& step) {
    const int rows = blasInt(orderOf(step.row)), columns = blasInt(orderOf(step.column)), stride = blasInt(n_);
    const int depth = static_cast<int>((step.last - step.first) * size_);
    const auto& blas = execution_.blas.of<T>();
    const T one = 1, minusOne = -1;
    T* here = at(step.row, step.column);
    if (depth != 0 && step.row == step.column) {
      blas.syrk("U", "T", &columns, &depth, &minusOne, at(step.row, step.first), &stride, &one, here, &stride);
    } else if (depth != 0) {
      blas.gemm("T", "N", &columns, &rows, &depth, &minusOne, at(step.column, step.first), &stride,
                at(step.row, step.first), &stride, &one, here, &stride);
    }
    if (!step.finish) return;
    if (step.row == step.column) {
      factorBlock(execution_, a_, n_, step.row * size_, orderOf(step.row));
    } else {
      solveRowsForward(execution_, at(step.column, step.column), n_, here, n_, orderOf(step.row), orderOf(step.column));
    }
  }

  const Execution& execution_;
  T* a_;
  size_t n_, size_, tiles_;
  std::vector<Tile> state_;
  std::mutex mutex_;
  std::atomic<unsigned> changes_{0};  // written under the mutex
  Condition changed_;
  size_t left_ = 0, firstColumn_ = 0;
};

// Powers of two by which rows and columns are multiplied so that nothing that counts is flushed to 0. A power is 1
// unless the diagonal is nearly as small as the type holds; then it brings the diagonal near 1. Powers change no bit
// of what is not flushed.
template <typename T>
std::vector<T> scalesOf(const T* a, size_t n) {
  std::vector<T> scales(n, T(1));
  for (size_t i = 0; i < n; ++i)
    if (needsScale(a[i * n + i])) scales[i] = std::ldexp(T(1), -(std::ilogb(a[i * n + i]) / 2));
  return scales;
}

template <typename T>
void factorInPlace(const Execution& execution, T* a, size_t n) {
  const size_t tile = n < 2048 ? 96 : 192;  // small enough to keep threads busy, large enough for gemm
  if (execution.blas.hasMatrixUnit || n < wholeFactorLimit) {
    factorBlock(execution, a, n, 0, n);
  } else {
    TiledCholesky<T>(execution, a, n, tile).run();
  }
}

template <typename T>
void factorScaled(const Execution& execution, T* a, size_t n) {
  const std::vector<T> scales = scalesOf(a, n);
  {
    const auto keeping = FloatModeScope::keeping();
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j <= i; ++j) a[i * n + j] = a[i * n + j] * scales[i] * scales[j];
  }
  factorInPlace(execution, a, n);
  const auto keeping = FloatModeScope::keeping();
  const T least = std::sqrt(std::numeric_limits<T>::min());
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) a[i * n + j] /= scales[i];
    // The plain TypeScript device refuses a subnormal pivot too.
    if (!(a[i * n + i] >= least)) refusePivot(i);
  }
}

}  // namespace

template <typename T>
void cholesky(const Execution& execution, T* a, size_t n) {
  bool isSmall = false;
  for (size_t i = 0; i < n && !isSmall; ++i) isSmall = needsScale(a[i * n + i]);
  if (isSmall) {
    factorScaled(execution, a, n);
  } else {
    factorInPlace(execution, a, n);
  }
  zeroUpper(execution, a, n);
}

template <typename T>
void zeroUpper(const Execution& execution, T* a, size_t n) {
  forRowBlocks(execution, n, std::max<size_t>(1, pieceElements / std::max<size_t>(n, 1)),
               [&](size_t first, size_t count, unsigned) {
                 for (size_t i = first; i < first + count; ++i) std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));
               });
}

template void cholesky(const Execution&, float*, size_t);
template void cholesky(const Execution&, double*, size_t);
template void zeroUpper(const Execution&, float*, size_t);
template void zeroUpper(const Execution&, double*, size_t);

}  // namespace covarium::cpu
