#include <utility>

#include "blocked.h"
#include "decomposition.h"
#include "lapack-call.h"

namespace covarium::cpu {

// As gesdd does it for a square matrix: LAPACK makes a bidiagonal matrix and its singular vectors, and our threads
// transform them back by the two sets of reflections.
template <typename T>
void blockedSvd(const Execution& execution, T* a, T* u, T* values, T* vt, size_t n) {
  T largest = 0;
  for (size_t i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(a[i]));
  const double scale = scaleFor<T>(largest);
  if (scale != 1)
    for (size_t i = 0; i < n * n; ++i) a[i] = static_cast<T>(a[i] * scale);

  const auto& lapack = execution.blas.lapack<T>();
  const int order = blasInt(n);
  std::vector<T> beside(n), left(n), right(n), rows(n * n);
  withWork<T>("gebrd", [&](T* work, const int* lwork, int* info) {
    lapack.gebrd(&order, &order, a, &order, values, beside.data(), left.data(), right.data(), work, lwork, info);
  });
  execution.stopIfCancelled();
  // The reflections of the right side lie in the rows, one column further on.
  transpose(execution, a, rows.data(), n, n);
  {
    std::vector<T> work(3 * n * n + 4 * n);
    std::vector<int> iwork(8 * n);
    int info = 0;
    lapack.bdsdc("U", "I", &order, values, beside.data(), u, &order, vt, &order, nullptr, nullptr, work.data(),
                 iwork.data(), &info);
    requireDone("bdsdc", info);
  }
  execution.stopIfCancelled();
  Reflections<T> turned(a, n, n, n);
  turned.prepareAll(execution, left.data());
  turned.applyAll(execution, u, n, n, false);
  // Overwrites a, which is not needed any more.
  transpose(execution, vt, a, n, n);
  Reflections<T> across(rows.data() + 1, n, n - 1, n - 1);
  across.prepareAll(execution, right.data());
  across.applyAll(execution, a + 1, n, n, false);
  transpose(execution, a, vt, n, n);
  if (scale != 1)
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(values[i] / scale);
}

template void blockedSvd(const Execution&, float*, float*, float*, float*, size_t);
template void blockedSvd(const Execution&, double*, double*, double*, double*, size_t);

}  // namespace covarium::cpu
