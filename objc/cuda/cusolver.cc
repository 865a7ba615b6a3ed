#include "cusolver.h"

#include "optional-library.h"

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
  static constexpr const char* title = "cuSOLVER";
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*setStream)(void* handle, Stream stream);
  int (*getProperty)(int property, int* value);
  Workspace workspace32, workspace64;
  Eigen eigen32, eigen64;
  int major = 0, minor = 0;

  bool load(Symbols find) {
    find("cusolverDnCreate", create);
    find("cusolverDnDestroy", destroy);
    find("cusolverDnSetStream", setStream);
    find("cusolverGetProperty", getProperty);
    find("cusolverDnSsyevd_bufferSize", workspace32);
    find("cusolverDnDsyevd_bufferSize", workspace64);
    find("cusolverDnSsyevd", eigen32);
    find("cusolverDnDsyevd", eigen64);
    return find.hasAll() && getProperty(0, &major) == 0 && getProperty(1, &minor) == 0;
  }
  std::string name() const { return title + (" " + std::to_string(major) + "." + std::to_string(minor)); }
};

const Library* library(std::string& reason) {
  return optionalLibrary<Library>("COVARIUM_CUSOLVER", {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"},
                                  reason);
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
