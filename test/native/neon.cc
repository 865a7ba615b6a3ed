// Hashes of what the kernels of arm64 (NEON) give: test/native/neon.test.ts builds it and runs it in an emulator.
//
// normals SEED STREAM FIRST COUNT      of float64 normals
// stretched SEED STREAM FIRST COUNT NU of rows of 1, stretched from 0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cpu/simd/kernels.h"
#include "threadgroup.h"

namespace covarium {
// Of threadgroups, which nothing here has.
SimdLanes simd_exchange_bits(uint64_t) { return {}; }
void threadgroup_barrier() {}
}  // namespace covarium

int main(int, char** arguments) {
  using namespace covarium;
  const auto word = [&](int i) { return std::strtoull(arguments[i], nullptr, 10); };
  const NormalCounter counter = {word(2), word(3), word(4)};
  const cpu::RealKernels<double>& kernels = cpu::kernelsBaseline().float64;
  std::vector<double> values(word(5), 1.0);
  if (arguments[1] == std::string("normals")) {
    kernels.fillNormal(values.data(), values.size(), counter);
  } else {
    const double location = 0;
    kernels.stretchRows(values.data(), &location, 0, values.size(), 1, std::strtod(arguments[6], nullptr), counter);
  }
  std::vector<uint32_t> words(2 * values.size());
  memcpy(words.data(), values.data(), words.size() * sizeof(uint32_t));
  uint32_t hash = 0;
  for (const uint32_t each : words) hash = hash * 31 + each;
  printf("%s %08x\n", cpu::kernelsBaseline().instructionSet, hash);
}
