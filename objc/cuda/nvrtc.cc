#include "nvrtc.h"

#include <algorithm>

#include "../failure.h"
#include "optional-library.h"

namespace covarium::cuda {

namespace {

using Program = struct ProgramObject*;

// Names and numbers are those of nvrtc.h.
constexpr int success = 0, compilation = 6;

struct Nvrtc {
  static constexpr const char* title = "NVRTC";
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

  bool load(Symbols find) {
    find("nvrtcVersion", version);
    find("nvrtcGetErrorString", getErrorString);
    find("nvrtcCreateProgram", createProgram);
    find("nvrtcDestroyProgram", destroyProgram);
    find("nvrtcCompileProgram", compileProgram);
    find("nvrtcGetProgramLogSize", getLogSize);
    find("nvrtcGetProgramLog", getLog);
    find("nvrtcGetPTXSize", getPtxSize);
    find("nvrtcGetPTX", getPtx);
    find("nvrtcGetNumSupportedArchs", architectureCount);
    find("nvrtcGetSupportedArchs", architectures);
    if (!find.hasAll() || version(&major, &minor) != success) return false;
    loadBuiltins();
    return major * 100 + minor >= 1105;  // msl/cuda/library needs integers of 128 bits
  }

 private:
  // NVRTC looks for its library of built-in functions by name, which only finds it in the loader's folders. If it
  // lies beside NVRTC, it is loaded here.
  void loadBuiltins() const {
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(version), &info) == 0) return;
    const std::string path = info.dli_fname;
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return;
    const std::string file = "/libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
    dlopen((path.substr(0, slash) + file).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
};

// Null if there is none; then the next call looks again.
const Nvrtc* nvrtc() {
  std::string reason;
  return optionalLibrary<Nvrtc>("COVARIUM_NVRTC",
                                {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}, reason);
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
