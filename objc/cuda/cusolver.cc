#include "cusolver.h"

#include "optional-library.h"

namespace covarium::cuda {

namespace {

// Names and numbers are those of cusolverDn.h. Its matrices are column-major: the lower triangle of a row-major
// matrix is its upper one, and its columns of eigenvectors are our rows.
constexpr int upper = 1;
using Address = DevicePointer;

// The calls of one type of numbers.
struct Calls {
  int (*eigenLength)(void* handle, int job, int triangle, int n, Address a, int lda, Address values, int* length);
  int (*eigen)(void* handle, int job, int triangle, int n, Address a, int lda, Address values, Address work, int length,
               Address info);
  int (*qrLength)(void* handle, int m, int n, Address a, int lda, int* length);
  int (*qr)(void* handle, int m, int n, Address a, int lda, Address tau, Address work, int length, Address info);
  int (*qLength)(void* handle, int m, int n, int k, Address a, int lda, Address tau, int* length);
  int (*q)(void* handle, int m, int n, int k, Address a, int lda, Address tau, Address work, int length, Address info);
};

struct Library {
  static constexpr const char* title = "cuSOLVER";
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*setStream)(void* handle, Stream stream);
  int (*getProperty)(int property, int* value);
  Calls float32, float64;
  // Only for float64: singular values of float32 matrices are computed in float64, too (decomposition.cc).
  int (*svdLength)(void* handle, int m, int n, int* length);
  int (*svd)(void* handle, signed char left, signed char right, int m, int n, Address a, int lda, Address values,
             Address u, int ldu, Address vt, int ldvt, Address work, int length, Address bidiagonal, Address info);
  int major = 0, minor = 0;

  bool load(Symbols find) {
    find("cusolverDnCreate", create);
    find("cusolverDnDestroy", destroy);
    find("cusolverDnSetStream", setStream);
    find("cusolverGetProperty", getProperty);
    const auto findAll = [&](const std::string& type, Calls& calls) {
      find(("cusolverDn" + type + "syevd_bufferSize").c_str(), calls.eigenLength);
      find(("cusolverDn" + type + "syevd").c_str(), calls.eigen);
      find(("cusolverDn" + type + "geqrf_bufferSize").c_str(), calls.qrLength);
      find(("cusolverDn" + type + "geqrf").c_str(), calls.qr);
      find(("cusolverDn" + type + "orgqr_bufferSize").c_str(), calls.qLength);
      find(("cusolverDn" + type + "orgqr").c_str(), calls.q);
    };
    findAll("S", float32);
    findAll("D", float64);
    find("cusolverDnDgesvd_bufferSize", svdLength);
    find("cusolverDnDgesvd", svd);
    return find.hasAll() && getProperty(0, &major) == 0 && getProperty(1, &minor) == 0;
  }
  std::string name() const { return title + (" " + std::to_string(major) + "." + std::to_string(minor)); }
};

const Library* library(std::string& reason) {
  return optionalLibrary<Library>("COVARIUM_CUSOLVER", {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"},
                                  reason);
}

const Calls& callsOf(Dtype dtype) {
  std::string reason;
  const Library* found = library(reason);
  return dtype == Dtype::float32 ? found->float32 : found->float64;
}

int integer(size_t length) { return static_cast<int>(length); }

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

bool Cusolver::symmetricEigen(DevicePointer a, DevicePointer values, size_t n, bool vectors, const Scratch& scratch,
                              DevicePointer info, Dtype dtype) const {
  const Calls& calls = callsOf(dtype);
  const int order = integer(n), job = vectors ? 1 : 0;
  int length = 0;
  return calls.eigenLength(handle_, job, upper, order, a, order, values, &length) == 0 && length > 0 &&
         calls.eigen(handle_, job, upper, order, a, order, values, scratch(length), length, info) == 0;
}

// The library is column-major: a is a' to it, and L q = a is q' L' = a'.
bool Cusolver::rowFactor(DevicePointer a, DevicePointer reflections, size_t m, size_t n, const Scratch& scratch,
                         DevicePointer info, Dtype dtype) const {
  const Calls& calls = callsOf(dtype);
  const int rows = integer(n), columns = integer(m);
  int length = 0;
  return calls.qrLength(handle_, rows, columns, a, rows, &length) == 0 &&
         calls.qr(handle_, rows, columns, a, rows, reflections, scratch(length), length, info) == 0;
}

bool Cusolver::orthonormalRows(DevicePointer q, DevicePointer reflections, size_t rank, size_t n,
                               const Scratch& scratch, DevicePointer info, Dtype dtype) const {
  const Calls& calls = callsOf(dtype);
  const int rows = integer(n), columns = integer(rank);
  int length = 0;
  return calls.qLength(handle_, rows, columns, columns, q, rows, reflections, &length) == 0 &&
         calls.q(handle_, rows, columns, columns, q, rows, reflections, scratch(length), length, info) == 0;
}

// The left vectors of a' are our v, and its right ones, transposed, our u.
bool Cusolver::svd(DevicePointer a, DevicePointer u, DevicePointer values, DevicePointer v, size_t m, size_t n,
                   const Scratch& scratch, DevicePointer info) const {
  std::string reason;
  const Library& calls = *library(reason);
  const int rows = integer(n), columns = integer(m);
  const signed char job = u == 0 ? 'N' : 'S';
  int length = 0;
  return calls.svdLength(handle_, rows, columns, &length) == 0 &&
         calls.svd(handle_, job, job, rows, columns, a, rows, values, v, rows, u, columns, scratch(length), length, 0,
                   info) == 0;
}

std::string cusolverName(std::string& reason) {
  const Library* found = library(reason);
  return found == nullptr ? "" : found->name();
}

}  // namespace covarium::cuda
