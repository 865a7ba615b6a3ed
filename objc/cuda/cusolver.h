// NVIDIA's library of decompositions, if this system has it. It is loaded at its first use, without its headers.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "../device.h"
#include "driver.h"

namespace covarium::cuda {

// One stream's decompositions. The GPU's context must be current when it is made, used and given back.
class Cusolver {
 public:
  // Null, with the reason, if there is no library or it does not start on this GPU. COVARIUM_CUSOLVER names the file;
  // `none` means no library.
  static std::unique_ptr<Cusolver> open(Stream stream, std::string& reason);
  ~Cusolver();
  Cusolver(const Cusolver&) = delete;

  // Memory of the GPU for this many numbers.
  using Scratch = std::function<DevicePointer(size_t numbers)>;
  // Encoder.symmetricEigen of lib/backend.ts. After each of the functions here the word at `info` is 0, or says what
  // went wrong. Each returns whether the library has started it.
  bool symmetricEigen(DevicePointer a, DevicePointer values, size_t n, bool vectors, const Scratch& scratch,
                      DevicePointer info, Dtype dtype) const;
  // Encoder.lq in two steps. rowFactor makes L of a, with any signs on its diagonal and other numbers above it, and
  // writes `reflections` (min(m, n)). With them orthonormalRows makes orthonormal rows of q, a copy of the first rows
  // of a.
  bool rowFactor(DevicePointer a, DevicePointer reflections, size_t m, size_t n, const Scratch& scratch,
                 DevicePointer info, Dtype dtype) const;
  bool orthonormalRows(DevicePointer q, DevicePointer reflections, size_t rank, size_t n, const Scratch& scratch,
                       DevicePointer info, Dtype dtype) const;
  // Encoder.svd in float64, where m <= n. If u and v are 0, only the values are computed.
  bool svd(DevicePointer a, DevicePointer u, DevicePointer values, DevicePointer v, size_t m, size_t n,
           const Scratch& scratch, DevicePointer info) const;
  // For example, cuSOLVER 12.0.
  const std::string& name() const { return name_; }

 private:
  Cusolver(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* handle_;
  std::string name_;
};

// Name and version of the library; '' with the reason if there is none.
std::string cusolverName(std::string& reason);

}  // namespace covarium::cuda
