// NVIDIA's library of products, if this system has it. It is loaded at its first use, without its headers.
#pragma once

#include <memory>
#include <string>

#include "../device.h"
#include "driver.h"

namespace covarium::cuda {

// One stream's products. The GPU's context must be current when it is made, used and given back.
class Cublas {
 public:
  // Null, with the reason, if there is no library or it does not start on this GPU. COVARIUM_CUBLAS names the file;
  // `none` means no library.
  static std::unique_ptr<Cublas> open(Stream stream, std::string& reason);
  ~Cublas();
  Cublas(const Cublas&) = delete;

  // c = alpha op(a) op(b) + beta c of row-major matrices, as Encoder.product of lib/backend.ts; rows of a are
  // `aStride` apart. Sums have the matrices' type: no TF32. Returns whether the library has started it.
  bool product(DevicePointer a, size_t aStride, DevicePointer b, DevicePointer c, const ProductShape& shape,
               Dtype dtype) const;
  // For example, cuBLAS 13.1.
  const std::string& name() const { return name_; }

 private:
  Cublas(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* handle_;
  std::string name_;
};

// Name and version of the library; '' with the reason if there is none.
std::string cublasName(std::string& reason);

}  // namespace covarium::cuda
