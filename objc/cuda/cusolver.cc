#include "cusolver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <vector>

namespace covarium::cuda {

namespace {

// Names and numbers are those of cusolverDn.h. Columns lie one after the other: the lower triangle of a row-major
// matrix is its upper one, and its columns of eigenvectors are our rows.
constexpr int withVectors = 1, upper = 1;
using Workspace = int (*)(void* handle, int job, int triangle, int n, DevicePointer a, int lda, DevicePointer values,
                          int* length);
using Eigen = int (*)(void* handle, int job, int triangle, int n, DevicePointer a, int lda, DevicePointer values,
                      DevicePointer work, int length, DevicePointer info);
struct Library {
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*setStream)(void* handle, Stream stream);
  int (*getProperty)(int property, int* value);
  Workspace workspace32, workspace64;
  Eigen eigen32, eigen64;
  int major = 0, minor = 0;
  std::string name() const { return "cuSOLVER " + std::to_string(major) + "." + std::to_string(minor); }
};

bool load(const std::string& path, Library& found) {
  // It stays: it has threads and memory of its own.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  bool all = true;
  const auto find = [&](const char* symbol, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, symbol));
    all &= function != nullptr;
  };
  find("cusolverDnCreate", found.create);
  find("cusolverDnDestroy", found.destroy);
  find("cusolverDnSetStream", found.setStream);
  find("cusolverGetProperty", found.getProperty);
  find("cusolverDnSsyevd_bufferSize", found.workspace32);
  find("cusolverDnDsyevd_bufferSize", found.workspace64);
  find("cusolverDnSsyevd", found.eigen32);
  find("cusolverDnDsyevd", found.eigen64);
  return all && found.getProperty(0, &found.major) == 0 && found.getProperty(1, &found.minor) == 0;
}

const Library* library(std::string& reason) {
  static auto* mutex = new std::mutex;  // workers may decompose while statics go
  static Library known;
  static bool isKnown = false;
  std::lock_guard<std::mutex> lock(*mutex);
  if (isKnown) return &known;
  const char* asked = getenv("COVARIUM_CUSOLVER");
  std::vector<std::string> names;
  if (asked != nullptr && *asked != '\0') {
    names = {asked};
  } else {
    for (const std::string folder : {"", "/usr/local/cuda/lib64/"})
      for (const char* name : {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"})
        names.push_back(folder + name);
  }
  for (const std::string& name : names) {
    if (!load(name, known)) continue;
    isKnown = true;
    return &known;
  }
  reason = "there is no cuSOLVER (" + names[0] + ")";
  return nullptr;
}

}  // namespace

std::unique_ptr<Cusolver> Cusolver::open(Stream stream, std::string& reason) {
  const Library* found = library(reason);
  if (found == nullptr) return nullptr;
  void* handle = nullptr;
  int result = found->create(&handle);
  if (result == 0) {
    std::unique_ptr<Cusolver> made(new Cusolver(handle, found->name()));
    result = found->setStream(handle, stream);
    if (result == 0) return made;
  }
  reason = found->name() + " does not start (" + std::to_string(result) + ")";
  return nullptr;
}

Cusolver::~Cusolver() {
  std::string reason;
  library(reason)->destroy(handle_);
}

size_t Cusolver::eigenWorkspace(DevicePointer a, DevicePointer values, size_t n, Dtype dtype) const {
  std::string reason;
  const Library* found = library(reason);
  const int order = static_cast<int>(n);
  int length = 0;
  const Workspace ask = dtype == Dtype::float32 ? found->workspace32 : found->workspace64;
  return ask(handle_, withVectors, upper, order, a, order, values, &length) == 0 && length > 0
             ? static_cast<size_t>(length)
             : 0;
}

bool Cusolver::symmetricEigen(DevicePointer a, DevicePointer values, size_t n, DevicePointer work, size_t workLength,
                              DevicePointer info, Dtype dtype) const {
  std::string reason;
  const Library* found = library(reason);
  const int order = static_cast<int>(n);
  const Eigen decompose = dtype == Dtype::float32 ? found->eigen32 : found->eigen64;
  return 0 == decompose(handle_, withVectors, upper, order, a, order, values, work, static_cast<int>(workLength), info);
}

std::string cusolverName(std::string& reason) {
  const Library* found = library(reason);
  return found == nullptr ? "" : found->name();
}

}  // namespace covarium::cuda
