#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "address-space.h"
#include "blas-check.h"
#include "blas.h"
#include "processor.h"

namespace covarium::cpu {

namespace {

// A BLAS, and the LAPACK beside it if that is a separate library. The fastest come first.
struct Place {
  const char *blas, *lapack;
};
constexpr Place places[] = {{"libopenblas.so.0", nullptr},      {"libopenblas.so", nullptr},
                            {"libmkl_rt.so.2", nullptr},        {"libmkl_rt.so", nullptr},
                            {"libblis.so.4", "liblapack.so.3"}, {"libblas.so.3", "liblapack.so.3"},
                            {"libblas.so", "liblapack.so"}};

template <typename F>
bool find(void* library, const std::string& symbol, F& function) {
  function = library == nullptr ? nullptr : reinterpret_cast<F>(dlsym(library, symbol.c_str()));
  return function != nullptr;
}

// The name of the first routine that is missing, or ''. The BLAS routines must come from `blas`: a LAPACK may bring
// another BLAS along.
template <typename T>
std::string missing(void* blas, void* lapack, BlasRoutines<T>& routines) {
  const std::string prefix = sizeof(T) == 4 ? "s" : "d";
  const auto inBlas = [&](const char* name, auto& function) { return find(blas, prefix + name + "_", function); };
  const auto inEither = [&](const char* name, auto& function) {
    return inBlas(name, function) || find(lapack, prefix + name + "_", function);
  };
  if (!inBlas("gemm", routines.gemm)) return prefix + "gemm_";
  if (!inBlas("gemv", routines.gemv)) return prefix + "gemv_";
  if (!inBlas("syrk", routines.syrk)) return prefix + "syrk_";
  if (!inBlas("trmm", routines.trmm)) return prefix + "trmm_";
  if (!inBlas("trsm", routines.trsm)) return prefix + "trsm_";
  if (!inEither("potrf", routines.potrf)) return prefix + "potrf_";
  return "";
}

// The name of the first decomposition that is missing, or ''.
template <typename T>
std::string missing(void* blas, void* lapack, LapackRoutines<T>& routines) {
  const std::string prefix = sizeof(T) == 4 ? "s" : "d";
  std::string absent;
  const auto look = [&](const char* name, auto& function) {
    const std::string symbol = prefix + name + "_";
    if (!find(blas, symbol, function) && !find(lapack, symbol, function) && absent.empty()) absent = symbol;
  };
  look("syevd", routines.syevd);
  look("sytrd", routines.sytrd);
  look("stedc", routines.stedc);
  look("gebrd", routines.gebrd);
  look("bdsdc", routines.bdsdc);
  look("geqrf", routines.geqrf);
  look("orgqr", routines.orgqr);
  look("gesdd", routines.gesdd);
  look("gejsv", routines.gejsv);
  look("pstrf", routines.pstrf);
  return absent;
}

template <typename... A>
bool callIfThere(void* library, const char* symbol, A... arguments) {
  const auto function = reinterpret_cast<void (*)(A...)>(dlsym(library, symbol));
  if (function != nullptr) function(arguments...);
  return function != nullptr;
}

std::string textOf(void* library, const char* symbol) {
  const auto function = reinterpret_cast<const char* (*)()>(dlsym(library, symbol));
  const char* text = function == nullptr ? nullptr : function();
  return text == nullptr ? "" : text;
}

// Reads what the library says of itself, and sets its threads to one: our threads share the work, and two pools would
// compete for the cores.
void describe(void* library, Blas& blas) {
  const std::string config = textOf(library, "openblas_get_config");
  if (!config.empty()) {
    blas.name = config.substr(0, config.find(' ', config.find(' ') + 1));
    blas.coreType = textOf(library, "openblas_get_corename");
    callIfThere(library, "openblas_set_num_threads", 1);
    if (!find(library, "blas_memory_alloc", blas.takeBuffer) || !find(library, "blas_memory_free", blas.returnBuffer))
      blas.takeBuffer = nullptr;
    return;
  }
  const std::string blis = textOf(library, "bli_info_get_version_str");
  if (!blis.empty()) {
    blas.name = "BLIS " + blis;
    const auto archOf = reinterpret_cast<int (*)()>(dlsym(library, "bli_arch_query_id"));
    const auto nameOf = reinterpret_cast<const char* (*)(int)>(dlsym(library, "bli_arch_string"));
    if (archOf != nullptr && nameOf != nullptr) blas.coreType = nameOf(archOf());
    callIfThere(library, "bli_thread_set_num_threads", 1L);
    return;
  }
  if (callIfThere(library, "MKL_Set_Num_Threads", 1)) {
    blas.name = "Intel MKL";
    return;
  }
  blas.name = "BLAS";
}

std::string fileOf(void* function) {
  Dl_info info;
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

// While it lives, an environment variable that a library reads as it is loaded, unless the user has set the variable.
class WhileLoading {
 public:
  WhileLoading(const char* name, const char* value)
      : name_(name), isSet_(value != nullptr && getenv(name) == nullptr && setenv(name, value, 0) == 0) {}
  ~WhileLoading() {
    if (isSet_) unsetenv(name_);
  }

 private:
  const char* const name_;
  const bool isSet_;
};

// OpenBLAS's core type that fits this processor.
const char* fittingCore() {
  switch (processor().instructionSet) {
    case InstructionSet::avx512:
      return "SkylakeX";
    case InstructionSet::avx2:
      return "Haswell";
    default:
      return nullptr;
  }
}

bool isBelowProcessor(const std::string& coreType) {
  const InstructionSet core = instructionSetOfCore(coreType);
  return core != InstructionSet::none && core < processor().instructionSet;
}

// The library's own size in memory, with what it needs.
constexpr size_t libraryBytes = size_t(128) << 20;

constexpr const char* coreTypeName = "OPENBLAS_CORETYPE";

struct Handles {
  void *blas, *lapack;
  void close() const {
    dlclose(blas);
    if (lapack != nullptr) dlclose(lapack);
  }
};

// Empty if it worked, else why not. If a core type is given, OpenBLAS takes the processor for that type.
std::string openAs(const char* core, const Place& place, Blas& blas, Handles& handles) {
  // OpenBLAS would start a thread for each processor and take memory for each; we don't use these threads.
  const WhileLoading oneThread("OPENBLAS_NUM_THREADS", "1"), coreType(coreTypeName, core);
  void* library = dlopen(place.blas, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  void* lapack = place.lapack == nullptr ? nullptr : dlopen(place.lapack, RTLD_NOW | RTLD_LOCAL);
  handles = {library, lapack};
  std::string absent = missing(library, lapack, blas.float32);
  if (absent.empty()) absent = missing(library, lapack, blas.float64);
  if (!absent.empty()) {
    handles.close();
    return std::string(place.blas) + " lacks the routine " + absent;
  }
  blas.lapackLacks = missing(library, lapack, blas.lapack32);
  if (blas.lapackLacks.empty()) blas.lapackLacks = missing(library, lapack, blas.lapack64);
  describe(library, blas);
  blas.lapackName = blas.name;
  blas.path = fileOf(reinterpret_cast<void*>(blas.float32.gemm));
  return "";
}

// Empty if it worked, else why not. An OpenBLAS that is older than the processor may take it for a far older one; it
// is then asked for the core type that fits.
std::string open(const Place& place, Blas& blas) {
  Handles handles;
  blas = {};  // what an earlier library said of itself is forgotten
  std::string why = openAs(nullptr, place, blas, handles);
  if (!why.empty()) return why;
  const bool obeys = blas.name.find("OpenBLAS") != std::string::npos;
  if (obeys && isBelowProcessor(blas.coreType) && getenv(coreTypeName) == nullptr && fittingCore() != nullptr) {
    handles.close();
    blas = {};
    why = openAs(fittingCore(), place, blas, handles);
    if (!why.empty()) return why;
    blas.isCoreAsked = !isBelowProcessor(blas.coreType);
  }
  const std::string wrong = wrongRoutine(blas);
  if (wrong.empty()) return "";
  handles.close();
  return std::string(place.blas) + " computes wrong numbers: " + wrong;
}

// True if the loader's message says that the library is not installed.
bool isAbsence(const std::string& why) { return why.find("No such file") != std::string::npos; }

// Empty if a library was loaded.
std::string load(Blas& library) {
  const char* wanted = getenv("COVARIUM_BLAS");
  const std::string lack = lackOfAddressSpace(libraryBytes + blasBufferBytes);
  if (!lack.empty()) return lack;
  if (namesLibrary(wanted)) {
    const std::string why = open({wanted, "liblapack.so.3"}, library);
    return why.empty() ? ""
                       : "COVARIUM_BLAS names a library that can't be used (" + std::string(wanted) + "): " + why + ".";
  }
  std::string told;
  for (const Place& place : places) {
    const std::string why = open(place, library);
    if (why.empty()) return "";
    if (told.empty() && !isAbsence(why)) told = why;
  }
  if (told.empty()) return "No BLAS library is installed. On Debian or Ubuntu: apt-get install libopenblas0.";
  return "A BLAS library is installed and can't be used (" + told + ").";
}

}  // namespace

const Blas* installedBlas(std::string& reason) {
  static std::mutex mutex;
  static Blas library;
  static bool found = false;
  const std::lock_guard<std::mutex> lock(mutex);
  reason = found ? "" : load(library);
  found = reason.empty();
  return found ? &library : nullptr;
}

namespace {

// A thread's stack and its arena in malloc.
constexpr size_t threadBytes = size_t(72) << 20;
// What our own products take for each thread.
constexpr size_t ownBufferBytes = size_t(8) << 20;

struct Promises {
  std::mutex mutex;
  unsigned threads = 0;  // of open devices
  unsigned callers = 0;
  unsigned buffers = 0;  // that the library has
};

Promises& promises() {
  static Promises all;
  return all;
}

// How many threads call the library at once. With our own products only the thread that decomposes does.
unsigned callersOf(const Blas& blas, unsigned threads) {
  if (!blas.isBuiltIn) return threads;
  return blas.path.empty() || threads == 0 ? 0 : 1;
}

}  // namespace

// OpenBLAS keeps every buffer that it ever had, for any thread that calls next. So the buffers that are taken here
// are there later.
unsigned promiseThreads(const Blas& blas, unsigned threads, std::string& reason) {
  if (freeAddressSpace() == SIZE_MAX) return threads;
  auto& [mutex, held, promised, buffers] = promises();
  const std::lock_guard<std::mutex> lock(mutex);
  if (blas.takeBuffer != nullptr) buffers = std::max(buffers, 1u);  // for the calls that checked it
  for (; threads > 0; --threads) {
    const unsigned wanted = std::max(buffers, promised + callersOf(blas, threads));
    const size_t ownBytes = blas.isBuiltIn ? threads * ownBufferBytes : 0;
    reason = lackOfAddressSpace((wanted - buffers) * blasBufferBytes + ownBytes + (threads - 1) * threadBytes);
    if (!reason.empty()) continue;
    if (blas.takeBuffer != nullptr) {
      std::vector<void*> taken;
      for (unsigned i = 0; i < wanted; ++i) taken.push_back(blas.takeBuffer(0));
      for (void* buffer : taken) blas.returnBuffer(buffer);
    }
    buffers = wanted;
    promised += callersOf(blas, threads);
    held += threads;
    return threads;
  }
  if (held > 0)
    reason += " Open devices hold what BLAS needs for (" + std::to_string(held) +
              ") threads: close one, or open it with fewer threads.";
  return 0;
}

void returnThreads(const Blas& blas, unsigned threads) {
  if (freeAddressSpace() == SIZE_MAX) return;
  auto& [mutex, held, promised, buffers] = promises();
  const std::lock_guard<std::mutex> lock(mutex);
  held -= std::min(held, threads);
  promised -= std::min(promised, callersOf(blas, threads));
}

}  // namespace covarium::cpu
