#include "nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "../failure.h"

namespace covarium::cuda {

namespace {

using Program = struct ProgramObject*;

// Names and numbers are those of nvrtc.h.
struct Nvrtc {
  int (*version)(int* major, int* minor);
  const char* (*getErrorString)(int result);
  int (*createProgram)(Program* program, const char* text, const char* name, int headers, const char* const* texts,
                       const char* const* names);
  int (*destroyProgram)(Program* program);
  int (*compileProgram)(Program program, int count, const char* const* options);
  int (*getLogSize)(Program program, size_t* bytes);
  int (*getLog)(Program program, char* log);
  int (*getPtxSize)(Program program, size_t* bytes);
  int (*getPtx)(Program program, char* ptx);
  int (*architectureCount)(int* count);
  int (*architectures)(int* all);
  int major = 0, minor = 0;
};

constexpr int success = 0, compilation = 6;

bool findAll(void* library, Nvrtc& found) {
  bool all = true;
  const auto find = [&](const char* symbol, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol));
    all &= function != nullptr;
  };
  find("nvrtcVersion", found.version);
  find("nvrtcGetErrorString", found.getErrorString);
  find("nvrtcCreateProgram", found.createProgram);
  find("nvrtcDestroyProgram", found.destroyProgram);
  find("nvrtcCompileProgram", found.compileProgram);
  find("nvrtcGetProgramLogSize", found.getLogSize);
  find("nvrtcGetProgramLog", found.getLog);
  find("nvrtcGetPTXSize", found.getPtxSize);
  find("nvrtcGetPTX", found.getPtx);
  find("nvrtcGetNumSupportedArchs", found.architectureCount);
  find("nvrtcGetSupportedArchs", found.architectures);
  return all;
}

// It looks for a library of its own by name, which only the loader's folders have: one beside it is loaded here.
void loadBuiltins(const Nvrtc& nvrtc) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(nvrtc.version), &info) == 0) return;
  const std::string path = info.dli_fname, version = std::to_string(nvrtc.major) + "." + std::to_string(nvrtc.minor);
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos)
    dlopen((path.substr(0, slash) + "/libnvrtc-builtins.so." + version).c_str(), RTLD_NOW | RTLD_LOCAL);
}

bool load(const std::string& name, Nvrtc& found) {
  // It stays: it has threads and caches of its own.
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || !findAll(library, found) || found.version(&found.major, &found.minor) != success)
    return false;
  loadBuiltins(found);
  return found.major * 100 + found.minor >= 1105;  // msl/cuda/library wants integers of 128 bits
}

// Null where there is none; then it is looked for again.
const Nvrtc* nvrtc() {
  static auto* mutex = new std::mutex;  // workers may compile while statics go
  static Nvrtc known;
  static bool isKnown = false;
  std::lock_guard<std::mutex> lock(*mutex);
  if (isKnown) return &known;
  const char* asked = getenv("COVARIUM_NVRTC");
  std::vector<std::string> names;
  if (asked != nullptr && *asked != '\0') {
    names = {asked};
  } else {
    for (const std::string folder : {"", "/usr/local/cuda/lib64/"})
      for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"})
        names.push_back(folder + name);
  }
  for (const std::string& name : names) {
    if (!load(name, known)) continue;
    isKnown = true;
    return &known;
  }
  return nullptr;
}

class Compilation {
 public:
  Compilation(const Nvrtc& nvrtc, const std::string& text) : nvrtc_(nvrtc) {
    require(nvrtc_.createProgram(&program_, text.c_str(), "covarium", 0, nullptr, nullptr));
  }
  ~Compilation() { nvrtc_.destroyProgram(&program_); }
  Compilation(const Compilation&) = delete;

  std::string ptx(const std::vector<std::string>& options) {
    std::vector<const char*> each;
    for (const std::string& option : options) each.push_back(option.c_str());
    const int result = nvrtc_.compileProgram(program_, static_cast<int>(each.size()), each.data());
    if (result == compilation) throw Failure("ERR_KERNEL_COMPILE", textBy(nvrtc_.getLogSize, nvrtc_.getLog));
    require(result);
    return textBy(nvrtc_.getPtxSize, nvrtc_.getPtx);
  }

 private:
  void require(int result) const {
    if (result != success)
      throw Failure("ERR_KERNEL_COMPILE", std::string("NVRTC fails: ") + nvrtc_.getErrorString(result) + ".");
  }
  template <typename Size, typename Get>
  std::string textBy(Size size, Get get) const {
    size_t bytes = 0;
    require(size(program_, &bytes));
    std::string text(bytes, '\0');
    require(get(program_, text.data()));
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
  }

  const Nvrtc& nvrtc_;
  Program program_ = nullptr;
};

// The newest architecture that the compiler knows, up to the GPU's own.
int architectureFor(const Nvrtc& nvrtc, int capability) {
  int count = 0, best = capability;
  if (nvrtc.architectureCount(&count) != success || count == 0) return best;
  std::vector<int> all(static_cast<size_t>(count));
  if (nvrtc.architectures(all.data()) != success) return best;
  best = all[0];
  for (const int each : all)
    if (each <= capability) best = std::max(best, each);
  return best;
}

}  // namespace

std::string nvrtcName() {
  const Nvrtc* found = nvrtc();
  return found == nullptr ? "" : "NVRTC " + std::to_string(found->major) + "." + std::to_string(found->minor);
}

std::string nvrtcPtx(const std::string& text, const std::vector<std::string>& folders, int capability) {
  const Nvrtc* found = nvrtc();
  if (found == nullptr) throw Failure("ERR_NO_COMPILER", "NVRTC is not there any more.");
  std::vector<std::string> options = {"--std=c++17", "--device-as-default-execution-space", "--fmad=false",
                                      "--device-int128", "--disable-warnings"};
  options.push_back("--gpu-architecture=compute_" + std::to_string(architectureFor(*found, capability)));
  for (const std::string& folder : folders) options.push_back("--include-path=" + folder);
  return Compilation(*found, text).ptx(options);
}

}  // namespace covarium::cuda
