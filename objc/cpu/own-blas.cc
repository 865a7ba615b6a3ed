// Which BLAS the device uses: our own products, unless the user names a library or the processor has a unit for
// matrices. Decompositions are the installed library's.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "blas.h"
#include "simd/kernels.h"

namespace covarium::cpu {

const Blas* blas(const KernelTable& kernels, std::string& reason) {
  const char* wanted = getenv("COVARIUM_BLAS");
  const bool isSet = wanted != nullptr && *wanted != 0, isNone = isSet && strcmp(wanted, noLibrary) == 0;
  const Blas* library = isNone ? nullptr : installedBlas(reason);
  if (isNone) reason = "COVARIUM_BLAS is none.";
  const bool isNamed = isSet && !isNone;
  if (isNamed || (library != nullptr && library->hasMatrixUnit)) return library;
  static std::mutex mutex;
  // Never destroyed: at exit, threads may still use them.
  static auto& made = *new std::map<std::pair<const KernelTable*, const Blas*>, Blas>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [entry, isNew] = made.try_emplace({&kernels, library});
  Blas& own = entry->second;
  if (isNew) {
    if (library != nullptr) own = *library;
    own.isBuiltIn = true;
    own.name = "Built-in BLAS";
    own.float32 = kernels.float32.products;
    own.float64 = kernels.float64.products;
    if (library == nullptr) own.lapackLacks = "ssyevd_";
  }
  return &own;
}

}  // namespace covarium::cpu
