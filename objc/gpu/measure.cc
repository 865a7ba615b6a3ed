#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

#include "routing.h"

namespace covarium::gpu {

namespace {

using Record = std::function<void(CommandBuffer&)>;
using RecordSome = std::function<void(CommandBuffer&, size_t count)>;

// The shortest of a few commits, after one that loads what it needs.
double secondsOf(Device& device, const Record& record) {
  constexpr int tries = 6;
  double shortest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < tries; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    const auto commands = device.commandBuffer();
    record(*commands);
    commands->commitAndWait();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    if (i != 0) shortest = std::min(shortest, taken.count());
  }
  return shortest;
}

// Seconds of one, beyond those of a commit. The count grows until that is most of the time.
double secondsOfOne(Device& device, size_t least, size_t most, double commit, const RecordSome& record) {
  constexpr double enough = 2e-4;
  for (size_t count = least;; count *= 4) {
    const double seconds = secondsOf(device, [&](CommandBuffer& c) { record(c, count); }) - commit;
    if (count * 4 > most || seconds > std::max(enough, 4 * commit))
      return std::max(0.0, seconds) / static_cast<double>(count);
  }
}

}  // namespace

Rates measure(Device& gpu, Device& cpu, bool makesFactors) {
  // More columns than kernels for narrow draws take.
  constexpr size_t most = size_t{1} << 22, n = 160, order = 512;
  constexpr NormalCounter counter = {1, 2, 0};
  const auto numbers = [](const std::shared_ptr<Buffer>& buffer, size_t length) {
    return Operand{buffer, 0, length, Dtype::float32};
  };
  const auto identity = [&](Device& device, size_t size) {
    const auto buffer = device.allocate(size * size * sizeof(float));
    auto* values = static_cast<float*>(buffer->contents());
    std::fill_n(values, size * size, 0.0f);
    for (size_t i = 0; i < size; ++i) values[i * (size + 1)] = 1;
    return buffer;
  };
  const auto fill = [&](const std::shared_ptr<Buffer>& out) {
    return [&, out](CommandBuffer& c, size_t count) { c.fillNormal(numbers(out, count), counter); };
  };
  const auto zeros = cpu.allocate(n * sizeof(float));
  std::fill_n(static_cast<float*>(zeros->contents()), n, 0.0f);
  const auto draw = [&](Device& device, const std::shared_ptr<Buffer>& out) {
    const auto factor = identity(device, n);
    factor->settle(0, factor->sizeBytes());
    return [&, out, factor](CommandBuffer& c, size_t rows) {
      c.sample(numbers(factor, n * n), numbers(zeros, n), numbers(out, rows * n), false, counter);
    };
  };

  Rates rates;
  const auto out = gpu.allocateOnGpu(most * sizeof(float));
  rates.commit = secondsOf(gpu, [&](CommandBuffer& c) { fill(out)(c, 256); });
  Device* devices[] = {&cpu, &gpu};
  for (size_t which : {0, 1}) {
    Device& device = *devices[which];
    const double commit = which == 0 ? 0 : rates.commit;
    const auto made = which == 0 ? cpu.allocate(most * sizeof(float)) : out;
    rates.number[which] = secondsOfOne(device, size_t{1} << 12, most, commit, fill(made));
    const double row = secondsOfOne(device, 16, most / n, commit, draw(device, made));
    rates.multiplyAdd[which] = std::max(0.0, row - n * rates.number[which]) / (0.5 * n * (n + 1));
  }
  if (gpu.hasOwnMemory()) {
    const auto onHost = gpu.allocate(most * sizeof(float));
    const double number = secondsOfOne(gpu, size_t{1} << 14, most, rates.commit, fill(onHost));
    rates.byte = std::max(0.0, number - rates.number[1]) / sizeof(float);
  }
  if (!makesFactors) return rates;
  for (size_t which : {0, 1}) {
    Device& device = *devices[which];
    const auto matrix = identity(device, order);  // its own factor
    const double seconds = secondsOf(device, [&](CommandBuffer& c) {
      c.cholesky(numbers(matrix, order * order), order, which == 0 ? FactorOn::cpu : FactorOn::gpu);
    });
    const double way = which == 0 ? 0 : rates.commit + 2 * sizeof(float) * order * order * rates.byte;
    const double multiplyAdds = order * (order / 6.0) * order;
    rates.block[which] = std::max(0.0, seconds - way - multiplyAdds * rates.multiplyAdd[which]) / (order / 128);
  }
  return rates;
}

}  // namespace covarium::gpu
