#include "self-test.h"

#include <algorithm>
#include <cstring>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <vector>

#include "command-buffer.h"
#include "sample.h"

namespace covarium::cuda {

namespace {

template <typename T>
using Test = std::function<void(CommandBuffer&, std::vector<T>&)>;

constexpr NormalCounter counter = {42, 7, 4294967293};  // its blocks straddle 2^32 elements

template <typename T>
Operand operandOf(std::vector<T>& values, Device& cpu) {
  return {cpu.borrow(values.data(), values.size() * sizeof(T)), 0, values.size(),
          sizeof(T) == sizeof(float) ? Dtype::float32 : Dtype::float64};
}

template <typename T>
std::vector<T> factorOf(size_t n) {
  std::vector<T> factor(n * n, T(0));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) factor[i * n + j] = i == j ? T(2) : T(0.1) / static_cast<T>(1 + i - j);
  return factor;
}

// What the test gives on a device.
template <typename T>
std::vector<T> resultOn(Device& device, size_t length, const Test<T>& test) {
  std::vector<T> result(length, T(-1));
  const auto commands = device.commandBuffer();
  test(*commands, result);
  commands->commitAndWait();
  return result;
}

// True if bits differ. If `sums` is not 0, the results are sums of about that many terms by a library, which adds in
// its own order: then true if they differ by more than rounding.
template <typename T>
bool differs(Device& gpu, Device& cpu, size_t length, const Test<T>& test, size_t sums = 0) {
  const std::vector<T> made = resultOn(gpu, length, test), expected = resultOn(cpu, length, test);
  if (sums == 0) return memcmp(made.data(), expected.data(), length * sizeof(T)) != 0;
  constexpr T size = 20;  // of the terms of a sum: three times what the largest normal is worth
  const T most = static_cast<T>(sums + 1) * std::numeric_limits<T>::epsilon() * size;
  for (size_t i = 0; i < length; ++i)
    if (!(std::abs(made[i] - expected[i]) <= most)) return true;
  return false;
}

template <typename T>
std::string testIn(Device& gpu, Device& cpu) {
  const std::string type = sizeof(T) == sizeof(float) ? "" : " of float64";
  if (differs<T>(gpu, cpu, 1001,
                 [&](CommandBuffer& c, std::vector<T>& out) { c.fillNormal(operandOf(out, cpu), counter); }))
    return "its normals" + type + " are not the normal stream's";
  const bool isOwn = cpu.name() == "Built-in BLAS";  // otherwise a library that COVARIUM_BLAS names
  for (const size_t n : {size_t{3}, narrowColumns + 67}) {
    std::vector<T> factor = factorOf<T>(n), mean(n, T(0.5));
    const size_t count = 301;
    const Test<T> draw = [&](CommandBuffer& c, std::vector<T>& out) {
      c.sample(operandOf(factor, cpu), operandOf(mean, cpu), operandOf(out, cpu), false, counter);
    };
    if (differs<T>(gpu, cpu, count * n, draw, isOwn ? 0 : n))
      return "its draws" + type + " of (" + std::to_string(n) + ") columns differ from the CPU's";
  }
  // With one column there are no sums.
  const size_t n = 1, count = 301;
  std::vector<T> factor = factorOf<T>(n), none(n, T(0));
  std::vector<double> location(n, 0.25);
  if (differs<T>(gpu, cpu, count * n, [&](CommandBuffer& c, std::vector<T>& out) {
        c.sample(operandOf(factor, cpu), operandOf(none, cpu), operandOf(out, cpu), false, counter);
        c.stretchRows(operandOf(out, cpu), operandOf(location, cpu), n, 1.5, counter);
      }))
    return "its draws" + type + " of a Student-t differ from the CPU's";
  return "";
}

std::set<std::string>& passed() {
  static auto* all = new std::set<std::string>;
  return *all;
}

}  // namespace

std::string selfTest(const std::string& which, Device& gpu, Device& cpu) {
  static auto* mutex = new std::mutex;  // workers may open devices while statics are destroyed
  std::lock_guard<std::mutex> lock(*mutex);
  if (passed().count(which) != 0) return "";
  std::string wrong = testIn<float>(gpu, cpu);
  if (wrong.empty()) wrong = testIn<double>(gpu, cpu);
  if (wrong.empty()) passed().insert(which);
  return wrong;
}

}  // namespace covarium::cuda
