#include "processor.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace covarium::cpu {

namespace {

#if defined(__x86_64__)
std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(std::string(" \0", 2)) - first + 1);
}

std::string brand() {
  unsigned text[12] = {};
  for (unsigned i = 0; i < 3; ++i)
    if (!__get_cpuid(0x80000002u + i, &text[4 * i], &text[4 * i + 1], &text[4 * i + 2], &text[4 * i + 3]))
      return "x86-64";
  char name[sizeof text + 1] = {};
  memcpy(name, text, sizeof text);
  return trimmed(name);
}

// The compiler's own test looks at the operating system's support too.
InstructionSet detect() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return InstructionSet::avx512;
  }
  if (avx2) return InstructionSet::avx2;
  return __builtin_cpu_supports("avx") ? InstructionSet::avx : InstructionSet::baseline;
}
#else
std::string brand() {
#if defined(__APPLE__)
  char name[256];
  size_t size = sizeof name;
  if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0) return name;
#endif
  return "arm64";
}

InstructionSet detect() { return InstructionSet::baseline; }
#endif

}  // namespace

const Processor& processor() {
  static const Processor here = {brand(), detect()};
  return here;
}

const char* nameOf(InstructionSet set) {
  switch (set) {
    case InstructionSet::avx512:
      return "AVX-512";
    case InstructionSet::avx2:
      return "AVX2";
    case InstructionSet::avx:
      return "AVX";
#if defined(__aarch64__)
    case InstructionSet::baseline:
      return "NEON";
#else
    case InstructionSet::baseline:
      return "SSE";
#endif
    case InstructionSet::none:
      break;
  }
  return "unknown";
}

InstructionSet instructionSetOfCore(const std::string& coreType) {
  static const struct {
    const char* core;
    InstructionSet set;
  } known[] = {{"skylakex", InstructionSet::avx512},
               {"cooperlake", InstructionSet::avx512},
               {"sapphirerapids", InstructionSet::avx512},
               {"skx", InstructionSet::avx512},
               {"knl", InstructionSet::avx512},
               {"zen4", InstructionSet::avx512},
               {"zen5", InstructionSet::avx512},
               {"haswell", InstructionSet::avx2},
               {"zen", InstructionSet::avx2},
               {"zen2", InstructionSet::avx2},
               {"zen3", InstructionSet::avx2},
               {"excavator", InstructionSet::avx2},
               {"sandybridge", InstructionSet::avx},
               {"bulldozer", InstructionSet::avx},
               {"piledriver", InstructionSet::avx},
               {"steamroller", InstructionSet::avx},
               {"generic", InstructionSet::baseline},
               {"prescott", InstructionSet::baseline},
               {"nehalem", InstructionSet::baseline},
               {"core2", InstructionSet::baseline},
               {"penryn", InstructionSet::baseline},
               {"dunnington", InstructionSet::baseline},
               {"barcelona", InstructionSet::baseline}};
  std::string lower = coreType;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto& entry : known)
    if (lower == entry.core) return entry.set;
  return InstructionSet::none;
}

const KernelTable& kernels() {
#if defined(__x86_64__)
  const char* wanted = getenv("COVARIUM_INSTRUCTION_SET");
  InstructionSet set = processor().instructionSet;
  if (wanted != nullptr && strcmp(wanted, "avx2") == 0) set = std::min(set, InstructionSet::avx2);
  if (wanted != nullptr && strcmp(wanted, "baseline") == 0) set = InstructionSet::baseline;
  if (set == InstructionSet::avx512) return kernelsAvx512();
  if (set == InstructionSet::avx2) return kernelsAvx2();
#endif
  return kernelsBaseline();
}

#if defined(__linux__)
namespace {

// The processors whose time a control group may use; infinity without a limit.
double quotaOf(const std::string& group) {
  double microseconds = 0, period = 0;
  if (std::ifstream unified(group + "/cpu.max"); unified) {
    unified >> microseconds >> period;  // "max 100000" without a limit
  } else {
    std::ifstream(group + "/cpu.cfs_quota_us") >> microseconds;  // -1 without
    std::ifstream(group + "/cpu.cfs_period_us") >> period;
  }
  return microseconds > 0 && period > 0 ? microseconds / period : INFINITY;
}

// The least of the process's own group and those around it (`docker run --cpus`, systemd's CPUQuota), rounded up;
// UINT_MAX without a limit. A group that a container does not see has no files there.
unsigned quota() {
  const std::string unified = "/sys/fs/cgroup", byController = unified + "/cpu";
  double least = std::min(quotaOf(unified), quotaOf(byController));
  std::ifstream groups("/proc/self/cgroup");
  for (std::string number, controllers, path;
       std::getline(groups, number, ':') && std::getline(groups, controllers, ':') && std::getline(groups, path);) {
    if (!controllers.empty() && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    for (; path.size() > 1 && path[0] == '/'; path.erase(path.rfind('/')))
      least = std::min(least, quotaOf((controllers.empty() ? unified : byController) + path));
  }
  return least < UINT_MAX ? static_cast<unsigned>(std::ceil(least)) : UINT_MAX;
}

}  // namespace
#endif

unsigned processorCount() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1u, std::min(quota(), static_cast<unsigned>(CPU_COUNT(&set))));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace covarium::cpu
