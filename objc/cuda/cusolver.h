// NVIDIA's library of decompositions, where this system has one: loaded when it is first asked for, without its
// headers.
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
  // Null where there is no library, or it does not start on this GPU, with the reason. COVARIUM_CUSOLVER names the
  // file; `none` for none.
  static std::unique_ptr<Cusolver> open(Stream stream, std::string& reason);
  ~Cusolver();
  Cusolver(const Cusolver&) = delete;

  // Memory of the GPU for so many numbers.
  using Scratch = std::function<DevicePointer(size_t numbers)>;
  // Encoder.symmetricEigen of lib/backend.ts, as the others here. Afterwards the word at `info` is 0, or what went
  // wrong. Returns whether the library has started it.
  bool symmetricEigen(DevicePointer a, DevicePointer values, size_t n, bool vectors, const Scratch& scratch,
                      DevicePointer info, Dtype dtype) const;
  // Encoder.lq in two steps: a becomes L, with other numbers above its diagonal, whose signs are any, and `reflections`
  // (min(m, n)) get what q, a copy of the first rows of a, becomes orthonormal rows by.
  bool rowFactor(DevicePointer a, DevicePointer reflections, size_t m, size_t n, const Scratch& scratch,
                 DevicePointer info, Dtype dtype) const;
  bool orthonormalRows(DevicePointer q, DevicePointer reflections, size_t rank, size_t n, const Scratch& scratch,
                       DevicePointer info, Dtype dtype) const;
  // Encoder.svd in float64, where m <= n. Without u and v (0) the values alone.
  bool svd(DevicePointer a, DevicePointer u, DevicePointer values, DevicePointer v, size_t m, size_t n,
           const Scratch& scratch, DevicePointer info) const;
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
