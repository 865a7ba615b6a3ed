// Plain C++, so that it can catch what a test throws, which becomes the reason why a kernel is off.
#include "self-test.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <vector>

#include "sample-params.h"

namespace covarium::gpu {

namespace {

using Floats = std::vector<float>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr size_t n = 130;     // more than 128, the most that MPS's own blocks have
constexpr size_t count = 12;  // rows: more than multiply_lower takes (triangle.h)

// Numbers between -1 and 1 without a pattern.
Floats scattered(size_t length) {
  Floats values(length);
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
  }
  return values;
}

// A well-conditioned lower triangle; `above` fills what is above its diagonal, which must not be read.
Floats lowerFactor(size_t columns, float above) {
  Floats factor = scattered(columns * columns);
  for (size_t i = 0; i < columns; ++i) {
    for (size_t j = 0; j < i; ++j) factor[i * columns + j] *= 0.1f;
    factor[i * columns + i] = 2;
    for (size_t j = i + 1; j < columns; ++j) factor[i * columns + j] = above;
  }
  return factor;
}

Floats covarianceOf(size_t columns) {
  const Floats factor = lowerFactor(columns, 0);
  Floats square(columns * columns);
  for (size_t i = 0; i < columns; ++i)
    for (size_t j = 0; j <= i; ++j) {
      const float *left = &factor[i * columns], *right = &factor[j * columns];
      float sum = 0;
      for (size_t k = 0; k <= j; ++k) sum += left[k] * right[k];
      square[i * columns + j] = square[j * columns + i] = sum;
    }
  return square;
}

Floats covariance() { return covarianceOf(n); }

// `models` copies of one array.
Floats repeated(const Floats& one, size_t models) {
  Floats all;
  for (size_t b = 0; b < models; ++b) all.insert(all.end(), one.begin(), one.end());
  return all;
}

// Arrays in a device's memory, in the order in which a test names them; the last is its result.
class Arrays {
 public:
  explicit Arrays(Device& device) : device_(device) {}
  Operand operator()(const Floats& values) {
    auto buffer = device_.allocate(values.size() * sizeof(float));
    memcpy(buffer->contents(), values.data(), values.size() * sizeof(float));
    last_ = {buffer, 0, values.size(), Dtype::float32};
    return last_;
  }
  Operand float64(const std::vector<double>& values) {
    auto buffer = device_.allocate(values.size() * sizeof(double));
    memcpy(buffer->contents(), values.data(), values.size() * sizeof(double));
    return {buffer, 0, values.size(), Dtype::float64};
  }
  Floats result() const { return Floats(last_.as<float>(), last_.as<float>() + last_.length); }

 private:
  Device& device_;
  Operand last_{};
};

using Test = std::function<void(CommandBuffer&, Arrays&)>;

Floats resultOn(Device& device, const Test& test) {
  const auto commands = device.commandBuffer();
  Arrays arrays(device);
  test(*commands, arrays);
  commands->commitAndWait();
  return arrays.result();
}

void requireSame(const Floats& actual, const Floats& expected, bool toTheBit) {
  if (toTheBit && memcmp(actual.data(), expected.data(), actual.size() * sizeof(float)) == 0) return;
  for (size_t i = 0; i < actual.size(); ++i) {
    const float bound = toTheBit ? 0 : 1e-4f * (1 + std::abs(expected[i]));
    if (std::abs(actual[i] - expected[i]) <= bound) continue;
    throw Failure("ERR_DEVICE_FAILED", "it gives (" + std::to_string(actual[i]) + ") for (" +
                                           std::to_string(expected[i]) + ") in its self-test");
  }
}

void refuseBadPivot(Device& gpu, FactorOn where, size_t pivot) {
  Floats bad = covariance();
  bad[pivot * (n + 1)] = -1;
  const auto commands = gpu.commandBuffer();
  Arrays arrays(gpu);
  commands->cholesky(arrays(bad), n, where);
  int64_t found = -1;
  try {
    commands->commitAndWait();
  } catch (const Failure& failure) {
    found = failure.pivot;
  }
  if (found != static_cast<int64_t>(pivot))
    throw Failure("ERR_DEVICE_FAILED",
                  "it takes a matrix that is not positive definite (pivot " + std::to_string(pivot) + ")");
}

// Tests a batch whose matrix `bad` is not positive definite.
void refuseBadModel(Device& gpu, size_t bad) {
  constexpr size_t order = 3, models = 40, pivot = 1;
  Floats all = repeated(covarianceOf(order), models);
  all[bad * order * order + pivot * (order + 1)] = -1;
  all[(bad + 1) * order * order] = nan;
  const auto commands = gpu.commandBuffer();
  Arrays arrays(gpu);
  commands->choleskyBatch(arrays(all), order, 1e-6);
  int64_t matrix = -1, found = -1;
  try {
    commands->commitAndWait();
  } catch (const Failure& failure) {
    matrix = failure.matrix;
    found = failure.pivot;
  }
  if (matrix != static_cast<int64_t>(bad) || found != static_cast<int64_t>(pivot))
    throw Failure("ERR_DEVICE_FAILED", "it takes a batch whose matrix (" + std::to_string(bad) +
                                           ") is not positive definite, or names another");
}

// Tests batches of 35 models of `order` columns.
template <typename Same>
void testBatches(const Same& same, size_t order) {
  constexpr size_t models = 35, rows = 7;
  const NormalCounter counter = {42, 4294967290, 4294967293};  // its streams pass 2^32 within the batch
  // The contract promises the bits of the CPU's factors: a root or a quotient that is not rounded correctly shows here.
  same(
      {"cholesky_batch", "keep_first_failed"},
      [&](CommandBuffer& c, Arrays& a) { c.choleskyBatch(a(repeated(covarianceOf(order), models)), order, 1e-6); },
      true);
  const Floats factors = repeated(lowerFactor(order, nan), models), means = scattered(models * order);
  same({"sample_batch"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand factor = a(factors), mean = a(means);
    c.sampleBatch(factor, mean, a(Floats(models * rows * order, nan)), order, counter);
  });
  for (const size_t sets : {size_t{1}, models}) {
    same({densitiesKernel(order)}, [&](CommandBuffer& c, Arrays& a) {
      const Operand factor = a(factors), mean = a(means), x = a(scattered(sets * rows * order));
      std::vector<double> constants(models);
      for (size_t b = 0; b < models; ++b) constants[b] = 0.5 * static_cast<double>(b);
      const Operand added = a.float64(constants);
      c.logDensityBatch(factor, mean, x, a(Floats(models * rows, nan)), order, added);
    });
  }
}

void testAll(Device& gpu, Device& cpu, std::map<std::string, std::string>& off, bool hasPassed) {
  const auto expect = [&off](std::initializer_list<const char*> names, const std::function<void()>& test) {
    for (const char* name : names)
      if (off.count(name) != 0) return;
    try {
      test();
    } catch (const std::exception& failure) {
      std::string reason = failure.what();
      if (reason.back() == '.') reason.pop_back();  // other messages end with it
      for (const char* name : names) off.emplace(name, reason);
    }
  };
  const auto same = [&](std::initializer_list<const char*> names, const Test& test, bool toTheBit = false) {
    expect(names, [&] { requireSame(resultOn(gpu, test), resultOn(cpu, test), toTheBit); });
  };
  const Floats rows = scattered(count * n), empty(count * n, nan), row = scattered(n);
  const NormalCounter counter = {42, 7, 4294967293};  // its blocks straddle 2^32 elements

  same({"fill_normal"}, [&](CommandBuffer& c, Arrays& a) { c.fillNormal(a(Floats(1001, nan)), counter); }, true);
  if (hasPassed) return;
  same({"zero_upper"}, [&](CommandBuffer& c, Arrays& a) { c.zeroUpper(a(covariance()), n); }, true);
  same({"antitranspose"}, [&](CommandBuffer& c, Arrays& a) { c.antitranspose(a(covariance()), n); }, true);
  same({"add_row"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand added = a(row);
    c.addRow(a(rows), added, -2);
  });
  same(
      {"scale_columns"},
      [&](CommandBuffer& c, Arrays& a) {
        const Operand scales = a(row);
        c.scaleColumns(a(rows), scales);
      },
      true);
  same({"squared_norms"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand all = a(rows);
    c.squaredNorms(all, a(Floats(count, nan)), n);
  });
  same({"MPSMatrixSum"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand left = a(rows), right = a(scattered(count * n));
    c.sum(left, right, a(empty));
  });
  same({"MPSMatrixMultiplication"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand left = a(rows), right = a(lowerFactor(n, 0.5f));
    c.product(left, right, a(empty), {count, n, n, false, true, 1, 0});
  });
  same({"MPSMatrixMultiplication"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand left = a(scattered(count * n)), right = a(lowerFactor(n, 0.5f));
    c.product(left, right, a(rows), {count, n, n, true, false, -0.5, 2});
  });
  same({"MPSMatrixVectorMultiplication"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand left = a(row), right = a(lowerFactor(n, 0.5f));
    c.product(left, right, a(Floats(n, nan)), {1, n, n, false, true, 1, 0});
  });
  same({"MPSMatrixVectorMultiplication"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand left = a(scattered(count * n)), right = a(scattered(count));
    c.product(left, right, a(row), {n, 1, count, true, false, -0.5, 2});
  });
  same({"multiply_lower"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand factor = a(lowerFactor(n, nan)), mean = a(row);
    c.sample(factor, mean, a(Floats(5 * n, nan)), false, counter);
  });
  same({"copy_lower"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand factor = a(lowerFactor(n, nan));
    c.triangularProduct(factor, a(rows), n, true);
  });
  for (const bool transposed : {false, true}) {
    same({"solve_tiles"}, [&](CommandBuffer& c, Arrays& a) {
      const Operand factor = a(lowerFactor(n, nan));
      c.triangularSolve(factor, a(rows), n, transposed);
    });
  }
  same({"solve_tiles"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand factor = a(lowerFactor(n, nan)), mean = a(row);
    c.sample(factor, mean, a(empty), true, counter);
  });
  same({"sample_tiles"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand factor = a(lowerFactor(n, nan)), mean = a(row);
    c.sample(factor, mean, a(empty), false, counter);
  });
  same({"log_density"}, [&](CommandBuffer& c, Arrays& a) {
    const Operand factor = a(lowerFactor(n, nan)), mean = a(row), all = a(rows);
    c.logDensity(factor, mean, all, a(Floats(count, nan)), false, 0.5);
  });
  for (const size_t some : {size_t{5}, count}) {  // by multiply_lower and by sample_tiles
    same({"less_mean"}, [&](CommandBuffer& c, Arrays& a) {
      const Operand factor = a(lowerFactor(n, nan)), mean = a(row), all = a(scattered(some * n));
      c.logDensity(factor, mean, all, a(Floats(some, nan)), true, 0.5);
    });
  }
  for (const size_t narrow : {size_t{3}, size_t{70}}) {
    same({"sample_narrow"}, [&](CommandBuffer& c, Arrays& a) {
      const Operand factor = a(lowerFactor(narrow, nan)), mean = a(scattered(narrow));
      c.sample(factor, mean, a(Floats(narrow * 300, nan)), false, counter);
    });
  }
  for (const bool inverse : {false, true}) {
    constexpr size_t few = 3;
    same({"sample_rows"}, [&](CommandBuffer& c, Arrays& a) {
      const Operand factor = a(lowerFactor(few, nan)), mean = a(scattered(few));
      c.sample(factor, mean, a(Floats(few * 1000, nan)), inverse, counter);
    });
    for (const size_t columns : {few, size_t{20}})
      same({densitiesKernel(columns)}, [&](CommandBuffer& c, Arrays& a) {
        const Operand factor = a(lowerFactor(columns, nan)), mean = a(scattered(columns));
        const Operand all = a(scattered(columns * 100));
        c.logDensity(factor, mean, all, a(Floats(100, nan)), inverse, 0.5);
      });
  }
  for (const size_t order : {3, 20}) testBatches(same, order);
  expect({"cholesky_batch", "keep_first_failed"}, [&] { refuseBadModel(gpu, 17); });
  const auto testFactor = [&](FactorOn where) {
    const auto factorOn = [](FactorOn processor) {
      return [processor](CommandBuffer& c, Arrays& a) { c.cholesky(a(covariance()), n, processor); };
    };
    requireSame(resultOn(gpu, factorOn(where)), resultOn(cpu, factorOn(FactorOn::cpu)), false);
    refuseBadPivot(gpu, where, n - 1);
  };
  expect({"cholesky_below", "cholesky_update"}, [&] { testFactor(FactorOn::gpu); });
  expect({"MPSMatrixDecompositionCholesky"}, [&] { testFactor(FactorOn::mps); });
}

// The GPUs that have passed. It is never destroyed, because workers may open devices while statics are destroyed.
struct Passed {
  std::mutex mutex;
  std::set<uint64_t> registryIds;
};

Passed& passed() {
  static auto* one = new Passed;
  return *one;
}

}  // namespace

bool selfTest(uint64_t registryId, Device& gpu, Device& cpu, std::map<std::string, std::string>& off, bool hasPassed) {
  {
    std::lock_guard<std::mutex> lock(passed().mutex);
    if (passed().registryIds.count(registryId) != 0) return true;
  }
  const size_t before = off.size();
  testAll(gpu, cpu, off, hasPassed);
  if (off.size() != before) return false;
  if (hasPassed) return true;
  std::lock_guard<std::mutex> lock(passed().mutex);
  passed().registryIds.insert(registryId);
  return true;
}

}  // namespace covarium::gpu
