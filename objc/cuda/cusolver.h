// NVIDIA's library of decompositions, where this system has one: loaded when it is first asked for, without its
// headers.
#pragma once

#include <memory>
#include <string>

#include "../device.h"
#include "driver.h"

namespace covarium::cuda {

// One stream's decompositions. The GPU's context must be current when it is made, used and given back.
class Cusolver {
 public:
  // Null where there is no library, or it does not start on this GPU, with the reason. COVARIUM_CUSOLVER names the
  // file; `none` for none.
  static std::unique_ptr<Cusolver> open(Stream stream, std::string& reason);
  ~Cusolver();
  Cusolver(const Cusolver&) = delete;

  // Numbers of `dtype` that symmetricEigen() works in; 0 where the library refuses the order.
  size_t eigenWorkspace(DevicePointer a, DevicePointer values, size_t n, Dtype dtype) const;
  // Encoder.symmetricEigen of lib/backend.ts. Afterwards the word at `info` is 0, or what went wrong. Returns whether
  // the library has started it.
  bool symmetricEigen(DevicePointer a, DevicePointer values, size_t n, DevicePointer work, size_t workLength,
                      DevicePointer info, Dtype dtype) const;
  // cuSOLVER 12.0.
  const std::string& name() const { return name_; }

 private:
  Cusolver(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* handle_;
  std::string name_;
};

// The library that there is, by name and version; '' with the reason where there is none.
std::string cusolverName(std::string& reason);

}  // namespace covarium::cuda
