// NVIDIA's library of products, where this system has one: loaded when it is first asked for, without its headers.
#pragma once

#include <memory>
#include <string>

#include "../device.h"
#include "driver.h"

namespace covarium::cuda {

// One stream's products. The GPU's context must be current when it is made, used and given back.
class Cublas {
 public:
  // Null where there is no library, with the reason, or it does not start on this GPU. COVARIUM_CUBLAS names the file;
  // `none` for none.
  static std::unique_ptr<Cublas> open(Stream stream, std::string& reason);
  ~Cublas();
  Cublas(const Cublas&) = delete;

  // c = alpha op(a) op(b) + beta c of row-major matrices, as Encoder.product of lib/backend.ts; rows of a are `aStride`
  // apart. Sums are of the matrices' type: no TF32. Returns whether the library has started it.
  bool product(DevicePointer a, size_t aStride, DevicePointer b, DevicePointer c, const ProductShape& shape,
               Dtype dtype) const;
  // cuBLAS 13.1.
  const std::string& name() const { return name_; }

 private:
  Cublas(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* handle_;
  std::string name_;
};

// The library that there is, by name and version; '' with the reason where there is none.
std::string cublasName(std::string& reason);

}  // namespace covarium::cuda
