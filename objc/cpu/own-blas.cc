// Which BLAS the device uses: the installed one, or our own products where there is none or where it is slow here.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "blas.h"
#include "processor.h"

namespace covarium::cpu {

namespace {

bool isSet(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && *value != 0;
}

// The reference BLAS says nothing of itself: its loops have no vectors.
bool isReference(const Blas& library) { return library.name == "BLAS"; }

bool isBelowProcessor(const Blas& library) {
  const InstructionSet core = instructionSetOfCore(library.coreType);
  return core != InstructionSet::none && core < processor().instructionSet;
}

}  // namespace

const Blas* blas(const KernelTable& kernels, std::string& reason) {
  const char* wanted = getenv("COVARIUM_BLAS");
  const bool isNone = wanted != nullptr && strcmp(wanted, noLibrary) == 0;
  const Blas* library = isNone ? nullptr : installedBlas(reason);
  if (isNone) reason = "COVARIUM_BLAS is none.";
  // What the user has asked for is used, or it is refused.
  const bool isChosen = isSet("COVARIUM_BLAS") || isSet("OPENBLAS_CORETYPE");
  if (library != nullptr && (isChosen || (!isReference(*library) && !isBelowProcessor(*library)))) return library;
  if (library == nullptr && isSet("COVARIUM_BLAS") && !isNone) return nullptr;
  static std::mutex mutex;
  // Never destroyed: at exit, threads may still use them.
  static auto& made = *new std::map<std::pair<const KernelTable*, const Blas*>, Blas>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [entry, isNew] = made.try_emplace({&kernels, library});
  Blas& own = entry->second;
  if (isNew) {
    if (library != nullptr) own = *library;
    own.name = library == nullptr ? "Built-in BLAS" : "Built-in BLAS, LAPACK of " + library->name;
    own.float32 = kernels.float32.products;
    own.float64 = kernels.float64.products;
    if (library == nullptr) own.lapackLacks = "ssyevd_";
  }
  return &own;
}

}  // namespace covarium::cpu
