#include "cublas.h"

#include <tuple>

#include "optional-library.h"

namespace covarium::cuda {

namespace {

// Names and numbers are those of cublas_v2.h.
template <typename T>
using Gemm = int (*)(void* handle, int transposeA, int transposeB, int m, int n, int k, const T* alpha, DevicePointer a,
                     int lda, DevicePointer b, int ldb, const T* beta, DevicePointer c, int ldc);
struct Library {
  static constexpr const char* title = "cuBLAS";
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*setStream)(void* handle, Stream stream);
  int (*getProperty)(int property, int* value);
  Gemm<float> sgemm;
  Gemm<double> dgemm;
  int major = 0, minor = 0;

  bool load(Symbols find) {
    find("cublasCreate_v2", create);
    find("cublasDestroy_v2", destroy);
    find("cublasSetStream_v2", setStream);
    find("cublasGetProperty", getProperty);
    find("cublasSgemm_v2", sgemm);
    find("cublasDgemm_v2", dgemm);
    return find.hasAll() && getProperty(0, &major) == 0 && getProperty(1, &minor) == 0;
  }
  std::string name() const { return title + (" " + std::to_string(major) + "." + std::to_string(minor)); }
};

const Library* library(std::string& reason) {
  return optionalLibrary<Library>("COVARIUM_CUBLAS",
                                  {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"}, reason);
}

template <typename T>
int multiply(Gemm<T> gemm, void* handle, DevicePointer a, size_t aStride, DevicePointer b, DevicePointer c,
             const ProductShape& shape) {
  const auto alpha = static_cast<T>(shape.alpha), beta = static_cast<T>(shape.beta);
  const auto [m, n, k] = std::tuple(static_cast<int>(shape.m), static_cast<int>(shape.n), static_cast<int>(shape.k));
  // cuBLAS is column-major, so it multiplies the transposes: c' = op(b)' op(a)'.
  return gemm(handle, shape.transposeB ? 1 : 0, shape.transposeA ? 1 : 0, n, m, k, &alpha, b, shape.transposeB ? k : n,
              a, static_cast<int>(aStride), &beta, c, n);
}

}  // namespace

std::unique_ptr<Cublas> Cublas::open(Stream stream, std::string& reason) {
  const Library* found = library(reason);
  if (found == nullptr) return nullptr;
  void* handle = nullptr;
  int result = found->create(&handle);
  if (result == 0) {
    std::unique_ptr<Cublas> made(new Cublas(handle, found->name()));
    result = found->setStream(handle, stream);
    if (result == 0) return made;
  }
  reason = found->name() + " does not start (" + std::to_string(result) + ")";
  return nullptr;
}

Cublas::~Cublas() {
  std::string reason;
  library(reason)->destroy(handle_);
}

bool Cublas::product(DevicePointer a, size_t aStride, DevicePointer b, DevicePointer c, const ProductShape& shape,
                     Dtype dtype) const {
  std::string reason;
  const Library* found = library(reason);
  return 0 == (dtype == Dtype::float32 ? multiply(found->sgemm, handle_, a, aStride, b, c, shape)
                                       : multiply(found->dgemm, handle_, a, aStride, b, c, shape));
}

std::string cublasName(std::string& reason) {
  const Library* found = library(reason);
  return found == nullptr ? "" : found->name();
}

}  // namespace covarium::cuda
