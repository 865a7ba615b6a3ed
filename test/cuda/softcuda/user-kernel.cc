#include "user-kernel.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "../../../msl/cpu/kernel-abi.h"

namespace {

const covarium::KernelLibrary* library = nullptr;

}  // namespace

bool loadUserKernel() {
  const char* setting = getenv("SOFTCUDA_KERNEL");
  const std::string both = setting == nullptr ? "" : setting;
  const size_t colon = both.rfind(':');
  if (colon == std::string::npos) return false;
  void* handle = dlopen(both.substr(0, colon).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return false;
  static covarium::KernelHost host = {};
  static const uint32_t none = 0;
  host.cancellations = &none;
  const auto entry = reinterpret_cast<CovariumKernelFunction>(dlsym(handle, "covariumKernel"));
  library = entry(&host, both.c_str() + colon + 1);
  return library != nullptr && library->runRow != nullptr;
}

unsigned userSlots() { return library->slotCount; }

// The groups of one launch alone, each with the threads that lie in the grid.
void runUserKernel(const std::vector<void*>& slots, const UserGrid& size, const unsigned (&launched)[3]) {
  covarium::GridSize grid = {};
  uint32_t begin[3], end[3];
  for (int i = 0; i < 3; ++i) {
    grid.threads[i] = size.threads[i];
    grid.groupThreads[i] = size.groupThreads[i];
    grid.groups[i] = size.groups[i];
    begin[i] = size.firstGroup[i] * size.groupThreads[i];
    end[i] = std::min(size.threads[i], (size.firstGroup[i] + launched[i]) * size.groupThreads[i]);
  }
  grid.simdWidth = 32;
  for (uint32_t z = begin[2]; z < end[2]; ++z)
    for (uint32_t y = begin[1]; y < end[1]; ++y) library->runRow(slots.data(), grid, begin[0], end[0], y, z);
}

#pragma GCC visibility push(default)
extern "C" int cuFuncGetAttribute(int* value, int attribute, void*) {
  *value = attribute == 0 ? 1024 : 0;
  return 0;
}
#pragma GCC visibility pop
