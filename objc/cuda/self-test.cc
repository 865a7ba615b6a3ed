#include "self-test.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "command-buffer.h"
#include "sample.h"

namespace covarium::cuda {

namespace {

using Floats = std::vector<float>;
using Test = std::function<void(CommandBuffer&, Floats&)>;

constexpr NormalCounter counter = {42, 7, 4294967293};  // its blocks straddle 2^32 elements

Operand operandOf(Floats& values, Device& cpu) {
  return {cpu.borrow(values.data(), values.size() * sizeof(float)), 0, values.size(), Dtype::float32};
}

Floats factorOf(size_t n) {
  Floats factor(n * n, 0.0f);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) factor[i * n + j] = i == j ? 2.0f : 0.1f / static_cast<float>(1 + i - j);
  return factor;
}

bool haveSameBits(const Floats& a, const Floats& b) {
  return memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// What the kernels make of it on either device.
Floats resultOn(Device& device, size_t length, const Test& test) {
  Floats result(length, -1.0f);
  const auto commands = device.commandBuffer();
  test(*commands, result);
  commands->commitAndWait();
  return result;
}

std::set<std::string>& passed() {
  static auto* uuids = new std::set<std::string>;
  return *uuids;
}

}  // namespace

std::string selfTest(const std::string& uuid, Device& gpu, Device& cpu) {
  static auto* mutex = new std::mutex;  // workers may open devices while statics go
  std::lock_guard<std::mutex> lock(*mutex);
  if (passed().count(uuid) != 0) return "";
  const size_t least = std::min(leastOnGpu(), size_t{1} << 20);
  const auto differs = [&](size_t length, const Test& test) {
    return !haveSameBits(resultOn(gpu, length, test), resultOn(cpu, length, test));
  };
  if (differs(least + 1001, [&](CommandBuffer& c, Floats& out) { c.fillNormal(operandOf(out, cpu), counter); }))
    return "its normals are not the normal stream's";
  for (const size_t n : {size_t{3}, narrowColumns + 67}) {
    Floats factor = factorOf(n), mean(n, 0.5f);
    const size_t count = least / n + 301;
    if (differs(count * n, [&](CommandBuffer& c, Floats& out) {
          c.sample(operandOf(factor, cpu), operandOf(mean, cpu), operandOf(out, cpu), false, counter);
        }))
      return "its draws of (" + std::to_string(n) + ") columns differ from the CPU's";
  }
  passed().insert(uuid);
  return "";
}

}  // namespace covarium::cuda
