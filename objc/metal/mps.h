#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <array>
#include <map>
#include <string>
#include <tuple>

#include "encoding.h"
#include "owned.h"

namespace covarium::metal {

// Row-major float32; the stride counts elements from row to row.
struct MatrixView {
  View view;
  size_t rows, columns, stride;

  MatrixView block(size_t row, size_t column, size_t height, size_t width) const {
    return {view.from(row * stride + column), height, width, stride};
  }
};

// The kernels of Metal Performance Shaders, made once for each shape, and the sizes for which their results can be
// trusted.
//
// On some GPUs and systems MPSMatrixMultiplication silently computes wrong numbers if (rows + 2 interior) x row bytes
// of the result exceeds 2^31 (JuliaGPU/Metal.jl #381), or if a dimension reaches 2^15 - 1 (pytorch #116769, #195163).
// So larger products are made by tiles.
class Mps {
 public:
  static constexpr size_t largestTile = size_t{1} << 14;

  explicit Mps(id<MTLDevice> device) : device_(device) {}

  // c = alpha op(a) op(b) + beta c; beta = 0 does not read c.
  void product(Encoding& encoding, const MatrixView& a, bool transposeA, const MatrixView& b, bool transposeB,
               const MatrixView& c, double alpha, double beta);
  // y = alpha op(a) x + beta y.
  void vectorProduct(Encoding& encoding, const MatrixView& a, bool transposed, View x, View y, double alpha,
                     double beta);
  // out = a + b; out must be neither a nor b.
  void sum(Encoding& encoding, const MatrixView& a, const MatrixView& b, const MatrixView& out);
  void copy(Encoding& encoding, const MatrixView& from, const MatrixView& to);
  // The lower factor of a; what is above its diagonal is unspecified. `status` is one MPSMatrixDecompositionStatus.
  void cholesky(Encoding& encoding, const MatrixView& a, const MatrixView& factor, View status);
  // Releases the kernels.
  void close() { kernels_.clear(); }
  // The row stride, in elements, with which MPS is fastest.
  static size_t strideFor(size_t columns);

 private:
  using Key = std::tuple<std::string, std::array<size_t, 6>, double, double>;
  template <typename Kernel, typename Make>
  Kernel* cached(const char* name, std::array<size_t, 6> shape, double alpha, double beta, const Make& make);

  id<MTLDevice> device_;
  std::map<Key, Owned<MPSKernel*>> kernels_;
};

}  // namespace covarium::metal
