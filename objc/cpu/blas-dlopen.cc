#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "blas.h"

namespace covarium::cpu {

namespace {

// BLAS, and the LAPACK beside it where that is a library of its own. The fastest first.
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

// The first routine that is not there, or nothing. BLAS itself must be in `blas`: a LAPACK may bring another one along.
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

// What the library says of itself. Its threads are set to one: ours share the work, and two pools would fight over the
// cores.
void describe(void* library, Blas& blas) {
  const std::string config = textOf(library, "openblas_get_config");
  if (!config.empty()) {
    blas.name = config.substr(0, config.find(' ', config.find(' ') + 1));
    blas.coreType = textOf(library, "openblas_get_corename");
    callIfThere(library, "openblas_set_num_threads", 1);
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

// Empty where it worked, else why not.
std::string open(const char* blasName, const char* lapackName, Blas& blas) {
  void* library = dlopen(blasName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  void* lapack = lapackName == nullptr ? nullptr : dlopen(lapackName, RTLD_NOW | RTLD_LOCAL);
  std::string absent = missing(library, lapack, blas.float32);
  if (absent.empty()) absent = missing(library, lapack, blas.float64);
  if (!absent.empty()) {
    dlclose(library);
    if (lapack != nullptr) dlclose(lapack);
    return std::string(blasName) + " lacks the routine " + absent;
  }
  describe(library, blas);
  blas.path = fileOf(reinterpret_cast<void*>(blas.float32.gemm));
  return "";
}

}  // namespace

const Blas* blas(std::string& reason) {
  static Blas library;
  static std::string refusal;
  static bool found = false;
  static std::once_flag once;
  std::call_once(once, [] {
    const char* wanted = getenv("COVARIUM_BLAS");
    if (wanted != nullptr && *wanted != 0) {
      const std::string why = open(wanted, "liblapack.so.3", library);
      found = why.empty();
      refusal = "COVARIUM_BLAS names a library that can't be used (" + std::string(wanted) + "): " + why + ".";
      return;
    }
    for (const Place& place : places) {
      if ((found = open(place.blas, place.lapack, library).empty())) return;
    }
    refusal = "No BLAS library is installed. On Debian or Ubuntu: apt-get install libopenblas0.";
  });
  reason = found ? "" : refusal;
  return found ? &library : nullptr;
}

}  // namespace covarium::cpu
