#include "address-space.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace covarium::cpu {

namespace {

// For V8's heap and for matrices.
constexpr size_t spareBytes = size_t(64) << 20;

constexpr int mebibyte = 20;

#ifdef __linux__
size_t takenBytes() {
  FILE* file = fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long pages = 0;
  const bool isRead = fscanf(file, "%lu", &pages) == 1;
  fclose(file);
  return isRead ? pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) : 0;
}
#endif

}  // namespace

size_t freeAddressSpace() {
#ifdef __linux__
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  const size_t taken = takenBytes();
  return limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
#else
  return SIZE_MAX;
#endif
}

std::string lackOfAddressSpace(size_t bytes) {
  const size_t free = freeAddressSpace();
  if (free >= bytes + spareBytes) return "";
  return "BLAS needs (" + std::to_string((bytes + spareBytes) >> mebibyte) + ") MiB of address space, and (" +
         std::to_string(free >> mebibyte) + ") MiB are left (RLIMIT_AS, which `ulimit -v` sets).";
}

}  // namespace covarium::cpu
