// Prints what the device uses with a library that has a matrix unit, like Accelerate, which does not exist on Linux:
// the names of its products and of its LAPACK, and whether its commands rely on the unit. For
// test/native/blas.test.ts.
#include <cstdio>

#include "cpu/blas.h"
#include "cpu/simd/kernels.h"

namespace covarium::cpu {

const Blas* installedBlas(std::string& reason) {
  static const Blas library = [] {
    Blas made;
    made.name = made.lapackName = "Accelerate";
    made.hasMatrixUnit = true;
    return made;
  }();
  reason.clear();
  return &library;
}

}  // namespace covarium::cpu

int main() {
  using namespace covarium::cpu;
  static const KernelTable kernels{};
  std::string reason;
  const Blas* taken = blas(kernels, reason);
  printf("%s, %s, %s\n", taken->name.c_str(), taken->lapackName.c_str(), taken->hasMatrixUnit ? "unit" : "no unit");
  return 0;
}
