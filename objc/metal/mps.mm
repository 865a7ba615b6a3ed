#include "mps.h"

#include <algorithm>

#include "../failure.h"
#include "../gpu/slices.h"

namespace covarium::metal {

namespace {

constexpr size_t largestSpanBytes = (size_t{1} << 31) - 1;
// Limited, because shapes come and go with the counts that users ask for.
constexpr size_t mostKernels = 512;

Owned<MPSMatrix*> matrixOf(const MatrixView& m) {
  MPSMatrixDescriptor* descriptor = [MPSMatrixDescriptor matrixDescriptorWithRows:m.rows
                                                                          columns:m.columns
                                                                         rowBytes:m.stride * sizeof(float)
                                                                         dataType:MPSDataTypeFloat32];
  return Owned<MPSMatrix*>::adopt(
      [[MPSMatrix alloc] initWithBuffer:m.view.buffer->object() offset:m.view.offsetBytes descriptor:descriptor]);
}

Owned<MPSVector*> vectorOf(const View& view, size_t length) {
  MPSVectorDescriptor* descriptor = [MPSVectorDescriptor vectorDescriptorWithLength:length dataType:MPSDataTypeFloat32];
  return Owned<MPSVector*>::adopt(
      [[MPSVector alloc] initWithBuffer:view.buffer->object() offset:view.offsetBytes descriptor:descriptor]);
}

MatrixView tile(const MatrixView& m, bool transposed, size_t row, size_t column, size_t rows, size_t columns) {
  return transposed ? m.block(column, row, columns, rows) : m.block(row, column, rows, columns);
}

}  // namespace

size_t Mps::strideFor(size_t columns) {
  return [MPSMatrixDescriptor rowBytesForColumns:columns dataType:MPSDataTypeFloat32] / sizeof(float);
}

template <typename Kernel, typename Make>
Kernel* Mps::cached(const char* name, std::array<size_t, 6> shape, double alpha, double beta, const Make& make) {
  const Key key = {name, shape, alpha, beta};
  auto found = kernels_.find(key);
  if (found == kernels_.end()) {
    if (kernels_.size() >= mostKernels) kernels_.clear();
    auto made = Owned<MPSKernel*>::adopt(make());
    if (!made) throw Failure("ERR_DEVICE_FAILED", std::string(name) + " is not to be had for this shape.");
    [made.get() setLabel:[NSString stringWithUTF8String:name]];
    found = kernels_.emplace(key, std::move(made)).first;
  }
  return static_cast<Kernel*>(found->second.get());
}

void Mps::product(Encoding& encoding, const MatrixView& a, bool transposeA, const MatrixView& b, bool transposeB,
                  const MatrixView& c, double alpha, double beta) {
  const size_t m = c.rows, n = c.columns, k = transposeA ? a.rows : a.columns;
  const size_t span = std::max<size_t>(largestSpanBytes / (c.stride * sizeof(float)), 4);
  const size_t depth = std::min({k, largestTile, span / 4}), height = std::min({m, largestTile, span - 2 * depth});
  forSlices(m, height, [&](size_t row, size_t rows) {
    forSlices(n, largestTile, [&](size_t column, size_t columns) {
      forSlices(k, depth, [&](size_t inner, size_t interior) {
        const double kept = inner == 0 ? beta : 1;
        const auto kernel = cached<MPSMatrixMultiplication>(
            "MPSMatrixMultiplication", {rows, columns, interior, transposeA, transposeB, 0}, alpha, kept, [&] {
              return [[MPSMatrixMultiplication alloc] initWithDevice:device_
                                                       transposeLeft:transposeA
                                                      transposeRight:transposeB
                                                          resultRows:rows
                                                       resultColumns:columns
                                                     interiorColumns:interior
                                                               alpha:alpha
                                                                beta:kept];
            });
        [kernel encodeToCommandBuffer:encoding.commandBuffer()
                           leftMatrix:matrixOf(tile(a, transposeA, row, inner, rows, interior)).get()
                          rightMatrix:matrixOf(tile(b, transposeB, inner, column, interior, columns)).get()
                         resultMatrix:matrixOf(c.block(row, column, rows, columns)).get()];
      });
    });
  });
}

void Mps::vectorProduct(Encoding& encoding, const MatrixView& a, bool transposed, View x, View y, double alpha,
                        double beta) {
  const size_t m = transposed ? a.columns : a.rows, k = transposed ? a.rows : a.columns;
  const size_t side = std::min(largestTile, std::max<size_t>(largestSpanBytes / (a.stride * sizeof(float)), 1));
  forSlices(m, side, [&](size_t row, size_t rows) {
    forSlices(k, side, [&](size_t inner, size_t interior) {
      const double kept = inner == 0 ? beta : 1;
      const auto kernel = cached<MPSMatrixVectorMultiplication>(
          "MPSMatrixVectorMultiplication", {rows, interior, transposed, 0, 0, 0}, alpha, kept, [&] {
            return [[MPSMatrixVectorMultiplication alloc] initWithDevice:device_
                                                               transpose:transposed
                                                                    rows:rows
                                                                 columns:interior
                                                                   alpha:alpha
                                                                    beta:kept];
          });
      [kernel encodeToCommandBuffer:encoding.commandBuffer()
                        inputMatrix:matrixOf(tile(a, transposed, row, inner, rows, interior)).get()
                        inputVector:vectorOf(x.from(inner), interior).get()
                       resultVector:vectorOf(y.from(row), rows).get()];
    });
  });
}

void Mps::sum(Encoding& encoding, const MatrixView& a, const MatrixView& b, const MatrixView& out) {
  forSlices(out.rows, largestTile, [&](size_t row, size_t rows) {
    forSlices(out.columns, largestTile, [&](size_t column, size_t columns) {
      const auto kernel = cached<MPSMatrixSum>("MPSMatrixSum", {rows, columns, 2, 0, 0, 0}, 1, 0, [&] {
        return [[MPSMatrixSum alloc] initWithDevice:device_ count:2 rows:rows columns:columns transpose:NO];
      });
      const auto left = matrixOf(a.block(row, column, rows, columns)),
                 right = matrixOf(b.block(row, column, rows, columns));
      [kernel encodeToCommandBuffer:encoding.commandBuffer()
                     sourceMatrices:[NSArray arrayWithObjects:left.get(), right.get(), nil]
                       resultMatrix:matrixOf(out.block(row, column, rows, columns)).get()
                        scaleVector:nil
                       offsetVector:nil
                         biasVector:nil
                         startIndex:0];
    });
  });
}

void Mps::copy(Encoding& encoding, const MatrixView& from, const MatrixView& to) {
  forSlices(from.rows, largestTile, [&](size_t row, size_t rows) {
    forSlices(from.columns, largestTile, [&](size_t column, size_t columns) {
      const auto kernel = cached<MPSMatrixCopy>("MPSMatrixCopy", {rows, columns, 0, 0, 0, 0}, 1, 0, [&] {
        return [[MPSMatrixCopy alloc] initWithDevice:device_
                                            copyRows:rows
                                         copyColumns:columns
                                sourcesAreTransposed:NO
                           destinationsAreTransposed:NO];
      });
      const MPSMatrixCopyOffsets none = {0, 0, 0, 0};
      [kernel
          encodeToCommandBuffer:encoding.commandBuffer()
                 copyDescriptor:[MPSMatrixCopyDescriptor
                                    descriptorWithSourceMatrix:matrixOf(from.block(row, column, rows, columns)).get()
                                             destinationMatrix:matrixOf(to.block(row, column, rows, columns)).get()
                                                       offsets:none]];
    });
  });
}

void Mps::cholesky(Encoding& encoding, const MatrixView& a, const MatrixView& factor, View status) {
  const auto kernel = cached<MPSMatrixDecompositionCholesky>(
      "MPSMatrixDecompositionCholesky", {a.rows, 0, 0, 0, 0, 0}, 1, 0,
      [&] { return [[MPSMatrixDecompositionCholesky alloc] initWithDevice:device_ lower:YES order:a.rows]; });
  [kernel encodeToCommandBuffer:encoding.commandBuffer()
                   sourceMatrix:matrixOf(a).get()
                   resultMatrix:matrixOf(factor).get()
                         status:status.buffer->object()];
}

}  // namespace covarium::metal
