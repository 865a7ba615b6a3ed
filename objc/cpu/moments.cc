#include "moments.h"

#include <algorithm>
#include <vector>

#include "triangular.h"

namespace covarium::cpu {

namespace {

constexpr size_t chunks = 8;
constexpr size_t blockRows = 256;  // centred in float64 at a time

// The sum over all chunks of body(first row, rows, sum of the chunk), each sum of `length` zeros before.
template <typename Body>
std::vector<double> sumOverChunks(const Execution& execution, size_t count, size_t length, const Body& body) {
  std::vector<std::vector<double>> sums(chunks, std::vector<double>(length));
  const size_t rows = (count + chunks - 1) / chunks;
  execution.pool.run(chunks, [&](size_t chunk, unsigned) {
    const size_t first = std::min(count, chunk * rows);
    body(first, std::min(count, first + rows) - first, sums[chunk].data());
  });
  for (size_t chunk = 1; chunk < chunks; ++chunk)
    for (size_t i = 0; i < length; ++i) sums[0][i] += sums[chunk][i];
  return std::move(sums[0]);
}

}  // namespace

template <typename T>
void meanAndCovariance(const Execution& execution, const T* rows, T* mean, T* covariance, size_t count, size_t n,
                       double ddof) {
  // Sums of differences from the first row, so that a large common offset costs no digits.
  const std::vector<double> origin(rows, rows + n);
  std::vector<double> centre = sumOverChunks(execution, count, n, [&](size_t first, size_t here, double* sum) {
    for (size_t r = first; r < first + here; ++r)
      for (size_t j = 0; j < n; ++j) sum[j] += static_cast<double>(rows[r * n + j]) - origin[j];
  });
  for (size_t j = 0; j < n; ++j) centre[j] /= static_cast<double>(count);

  const int order = blasInt(n);
  const std::vector<double> products =
      sumOverChunks(execution, count, n * n, [&](size_t first, size_t here, double* sum) {
        std::vector<double> centred(std::min(blockRows, here) * n);
        for (size_t r = first; r < first + here; r += blockRows) {
          execution.stopIfCancelled();
          const size_t block = std::min(blockRows, first + here - r);
          for (size_t i = 0; i < block; ++i)
            for (size_t j = 0; j < n; ++j)
              centred[i * n + j] = static_cast<double>(rows[(r + i) * n + j]) - origin[j] - centre[j];
          const int depth = static_cast<int>(block);
          const double one = 1;
          execution.blas.float64.syrk("U", "N", &order, &depth, &one, centred.data(), &order, &one, sum, &order);
        }
      });
  for (size_t i = 0; i < n; ++i) {
    mean[i] = static_cast<T>(origin[i] + centre[i]);
    for (size_t j = 0; j <= i; ++j) {
      covariance[i * n + j] = covariance[j * n + i] =
          static_cast<T>(products[i * n + j] / (static_cast<double>(count) - ddof));
    }
  }
}

template void meanAndCovariance(const Execution&, const float*, float*, float*, size_t, size_t, double);
template void meanAndCovariance(const Execution&, const double*, double*, double*, size_t, size_t, double);

}  // namespace covarium::cpu
