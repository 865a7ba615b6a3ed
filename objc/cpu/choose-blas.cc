// Which BLAS the device uses: our own products, unless the user names a library or the processor has a unit for
// matrices and the user does not ask for ours. Decompositions are the installed library's.
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
  const bool isNone = wanted != nullptr && strcmp(wanted, noLibrary) == 0;
  const bool isOwn = wanted != nullptr && strcmp(wanted, ownProducts) == 0;
  const Blas* library = isNone ? nullptr : installedBlas(reason);
  if (isNone) reason = "COVARIUM_BLAS is none.";
  if (namesLibrary(wanted) || (library != nullptr && library->hasMatrixUnit && !isOwn)) return library;
  static std::mutex mutex;
  // Never destroyed: at exit, threads may still use them.
  static auto& made = *new std::map<std::pair<const KernelTable*, const Blas*>, Blas>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [entry, isNew] = made.try_emplace({&kernels, library});
  Blas& own = entry->second;
  if (isNew) {
    if (library != nullptr) own = *library;
    own.isBuiltIn = true;
    own.hasMatrixUnit = false;  // its LAPACK has it; the device's own commands take our products
    own.name = "Built-in BLAS";
    own.float32 = kernels.float32.products;
    own.float64 = kernels.float64.products;
    if (library == nullptr) own.lapackLacks = "ssyevd_";
  }
  return &own;
}

}  // namespace covarium::cpu
