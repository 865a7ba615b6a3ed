// Compares the kernels of msl/ on an NVIDIA GPU with the CPU device's. test/real-gpu/run.sh builds and runs it;
// docs/numerics.md has the results. Arguments are the parts to run; none means all: words, stream, kernels, rates,
// shares. `few` runs the kernels with one size of groups, for a sanitizer.
#include <cstdio>
#include <set>
#include <string>

#include "cpu.h"
#include "gpu.h"

int main(int argc, char** argv) {
  const std::set<std::string> parts(argv + 2, argv + argc);
  const auto wanted = [&](const char* part) { return parts.empty() || parts.count(part) != 0; };
  printf("%s\n", gpu::name().c_str());
  Cpu cpu;
  int wrong = 0;
  if (wanted("words")) wrong += checkWords(argv[1]);
  if (wanted("stream")) wrong += checkStream(cpu);
  if (wanted("kernels")) wrong += checkKernels(cpu, false);
  if (parts.count("few") != 0) wrong += checkKernels(cpu, true);
  if (wanted("rates")) printRates();
  if (wanted("shares")) printShares();
  printf(wrong == 0 ? "all as on the CPU\n" : "(%d) WRONG\n", wrong);
  return wrong == 0 ? 0 : 1;
}
