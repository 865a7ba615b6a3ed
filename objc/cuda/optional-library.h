// An optional library of NVIDIA's. It is loaded at its first use, without its headers.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

namespace covarium::cuda {

// Finds functions by name and remembers whether all were there.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}
  template <typename Function>
  void operator()(const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, symbol));
    hasAll_ &= function != nullptr;
  }
  bool hasAll() const { return hasAll_; }

 private:
  void* library_;
  bool hasAll_ = true;
};

// The library of this process: the file that the environment variable names, or the first usable one of `files`, from
// the loader or from the toolkit's folder. Null, with the reason, if there is none; then the next call looks again.
// `Library` has a `title`, and `load(Symbols)` returns whether a file is usable.
template <typename Library>
const Library* optionalLibrary(const char* variable, const std::vector<std::string>& files, std::string& reason) {
  static auto* mutex = new std::mutex;  // workers may come here while statics are destroyed
  static Library known;
  static bool isKnown = false;
  std::lock_guard<std::mutex> lock(*mutex);
  if (isKnown) return &known;
  const char* asked = getenv(variable);
  std::vector<std::string> paths;
  if (asked != nullptr && *asked != '\0') {
    paths = {asked};
  } else {
    for (const std::string folder : {"", "/usr/local/cuda/lib64/"})
      for (const std::string& file : files) paths.push_back(folder + file);
  }
  for (const std::string& path : paths) {
    // It stays loaded, because it has its own threads and memory.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr || !known.load(Symbols(library))) continue;
    isKnown = true;
    return &known;
  }
  reason = std::string("there is no ") + Library::title + " (" + paths[0] + ")";
  return nullptr;
}

}  // namespace covarium::cuda
