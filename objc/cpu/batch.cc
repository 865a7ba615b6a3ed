#include "batch.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "cholesky.h"
#include "few-rows.h"
#include "log-density.h"
#include "sample.h"
#include "symmetry.h"
#include "triangular.h"

namespace covarium::cpu {

namespace {

constexpr size_t taskElements = 1 << 14;  // of the factors of one task: some 10 us
constexpr size_t abreastElements = 128;   // of the draws of one model, beyond which the code for one model is as fast
constexpr size_t abreastRows = 32;        // of a log density, likewise

// Models of a task: whole groups of models that are computed side by side.
template <typename T>
size_t modelsOfTask(const Execution& execution, size_t count, size_t elementsOfModel) {
  const size_t group = execution.kernels.of<T>().abreastModels;
  const size_t groups = std::max<size_t>(1, taskElements / elementsOfModel / group);
  const size_t share = (count + execution.pool.threads() - 1) / execution.pool.threads();
  return std::min(groups, std::max<size_t>(1, share / group)) * group;
}

// Calls body(first, models, scratch) for groups of models that are computed side by side, on all threads.
template <typename T, typename Body>
void forGroups(const Execution& execution, size_t count, size_t n, size_t rows, const Body& body) {
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  std::vector<std::vector<T>> scratch(execution.pool.threads());
  forRowBlocks(execution, count, modelsOfTask<T>(execution, count, n * (n + rows)),
               [&](size_t first, size_t here, unsigned thread) {
                 scratch[thread].resize(kernels.abreastScratch(n, rows));
                 for (size_t done = 0; done < here; done += kernels.abreastModels)
                   body(first + done, std::min(kernels.abreastModels, here - done), scratch[thread].data());
               });
}

// Calls body(execution, b) for each model. If `aside`, enough models run side by side, each on one thread; else they
// run one after the other, each on all threads.
template <typename Body>
void forModels(const Execution& execution, size_t count, bool aside, const Body& body) {
  if (!aside || count < 2 * execution.pool.threads()) {
    for (size_t b = 0; b < count; ++b) body(execution, b);
    return;
  }
  Pool alone(1);
  const Execution one = {alone, execution.kernels, execution.blas, execution.cancelled, execution.closing};
  execution.pool.run(count, [&](size_t b, unsigned) {
    execution.stopIfCancelled();
    body(one, b);
  });
}

// The failure of the first model that has one, in whatever order threads find failures.
class FirstFailure {
 public:
  bool isBefore(size_t model) const { return first_.load(std::memory_order_relaxed) < model; }

  template <typename Work>
  void guard(size_t model, const Work& work) {
    if (isBefore(model)) return;
    try {
      work();
    } catch (const Failure& failure) {
      if (std::string(failure.code) == "ERR_ABORTED") throw;
      std::lock_guard<std::mutex> lock(mutex_);
      if (model >= first_) return;
      first_ = model;
      failure_ = failure;
    }
  }

  void rethrow() {
    if (first_ == none) return;
    failure_.matrix = static_cast<int64_t>(first_);
    throw failure_;
  }

 private:
  static constexpr size_t none = static_cast<size_t>(-1);
  std::atomic<size_t> first_{none};
  Failure failure_{"ERR_INTERNAL", ""};
  std::mutex mutex_;
};

NormalCounter ofModel(NormalCounter counter, size_t model) {
  counter.stream += model;
  return counter;
}

// Whether one of `models` n x n matrices has a diagonal that cholesky scales.
template <typename T>
bool hasSmall(const T* a, size_t models, size_t n) {
  for (size_t b = 0; b < models; ++b)
    for (size_t i = 0; i < n; ++i)
      if (needsScale(a[b * n * n + i * (n + 1)])) return true;
  return false;
}

}  // namespace

template <typename T>
void choleskyBatch(const Execution& execution, T* a, size_t count, size_t n, T tolerance) {
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  FirstFailure failure;
  const auto factor = [&](const Execution& how, size_t b) {
    failure.guard(b, [&] {
      requireSymmetric(how, a + b * n * n, n, tolerance);
      cholesky(how, a + b * n * n, n);
    });
  };
  if (n <= kernels.abreastLimit) {
    Pool alone(1);
    const Execution one = {alone, execution.kernels, execution.blas, execution.cancelled, execution.closing};
    forGroups<T>(execution, count, n, 0, [&](size_t first, size_t models, T* scratch) {
      if (failure.isBefore(first)) return;
      if (!hasSmall(a + first * n * n, models, n) &&
          kernels.factorAbreast(a + first * n * n, models, n, tolerance, scratch))
        return;
      for (size_t b = first; b < first + models; ++b) factor(one, b);
    });
  } else {
    forModels(execution, count, n < wholeFactorLimit, factor);
  }
  failure.rethrow();
}

template <typename T>
void sampleBatch(const Execution& execution, const T* factors, const T* means, T* out, size_t count, size_t n,
                 size_t rows, NormalCounter counter) {
  if (rows == 0) return;
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  if (n <= std::min(kernels.abreastLimit, kernels.narrowLimit) && rows * n <= abreastElements) {
    return forGroups<T>(execution, count, n, rows, [&](size_t first, size_t models, T* scratch) {
      kernels.sampleAbreast(factors + first * n * n, means + first * n, out + first * rows * n, models, n, rows,
                            ofModel(counter, first), scratch);
    });
  }
  // The bits of a library's product may depend on how the rows are cut, which depends on the threads.
  const bool aside = execution.blas.isBuiltIn || n <= kernels.narrowLimit || rows <= fewRowsLimit;
  forModels(execution, count, aside, [&](const Execution& how, size_t b) {
    sample(how, factors + b * n * n, means + b * n, out + b * rows * n, rows, n, false, ofModel(counter, b));
  });
}

template <typename T>
void logDensityBatch(const Execution& execution, const T* factors, const T* means, const T* x, size_t rowsStride,
                     T* out, size_t count, size_t n, size_t rows, const double* constants) {
  const RealKernels<T>& kernels = execution.kernels.of<T>();
  if (n <= kernels.abreastLimit && rows <= abreastRows) {
    return forGroups<T>(execution, count, n, rows, [&](size_t first, size_t models, T* scratch) {
      T* here = out + first * rows;
      kernels.squaredDistancesAbreast(factors + first * n * n, means + first * n, x + first * rowsStride, rowsStride,
                                      here, models, n, rows, scratch);
      for (size_t b = 0; b < models; ++b) {
        const T constant = static_cast<T>(constants[first + b]);
        for (size_t r = 0; r < rows; ++r) here[b * rows + r] = constant - here[b * rows + r] / 2;
      }
    });
  }
  const bool aside = n <= kernels.solveLimit && solvesItself<T>(execution, n);
  forModels(execution, count, aside, [&](const Execution& how, size_t b) {
    logDensity(how, factors + b * n * n, means + b * n, x + b * rowsStride, out + b * rows, rows, n, false,
               static_cast<T>(constants[b]));
  });
}

template void choleskyBatch(const Execution&, float*, size_t, size_t, float);
template void choleskyBatch(const Execution&, double*, size_t, size_t, double);
template void sampleBatch(const Execution&, const float*, const float*, float*, size_t, size_t, size_t, NormalCounter);
template void sampleBatch(const Execution&, const double*, const double*, double*, size_t, size_t, size_t,
                          NormalCounter);
template void logDensityBatch(const Execution&, const float*, const float*, const float*, size_t, float*, size_t,
                              size_t, size_t, const double*);
template void logDensityBatch(const Execution&, const double*, const double*, const double*, size_t, double*, size_t,
                              size_t, size_t, const double*);

}  // namespace covarium::cpu
