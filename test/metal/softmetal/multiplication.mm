#include "ledger.h"
#include "linear-algebra.h"
#include "matrix-kernel.h"
#include "settings.h"

using softmetal::Call;
using softmetal::View;

namespace {

struct Multiplication : SoftKernel {
  using SoftKernel::SoftKernel;
  bool transposeLeft = false, transposeRight = false;
  size_t rows = 0, columns = 0, interior = 0;
  double alpha = 1, beta = 0;

  View left(const SoftExtent& a, size_t i, const Call& call) const {
    return softmetal::viewOf(a, "the left matrix", firstOrigin, i, transposeLeft ? interior : rows,
                             transposeLeft ? rows : interior, call);
  }
  View right(const SoftExtent& b, size_t i, const Call& call) const {
    return softmetal::viewOf(b, "the right matrix", secondOrigin, i, transposeRight ? columns : interior,
                             transposeRight ? interior : columns, call);
  }
};

void compute(const View& a, bool transposeA, const View& b, bool transposeB, const View& c, double alpha, double beta) {
  if (beta == 0 && softmetal::isOn("poison")) softmetal::fillWithNaN(c);
  softmetal::multiply(a, transposeA, b, transposeB, c, alpha, beta);
}

std::string shapeOf(const Multiplication& m) {
  return std::string(m.transposeLeft ? "T" : "N") + (m.transposeRight ? "T " : "N ") + std::to_string(m.rows) + "x" +
         std::to_string(m.columns) + "x" + std::to_string(m.interior) + " " + std::to_string(m.alpha) + " " +
         std::to_string(m.beta);
}

Multiplication* newMultiplication(const char* className, bool left, bool right, size_t rows, size_t columns,
                                  size_t interior, double alpha, double beta, const Call& call) {
  if (rows == 0 || columns == 0 || interior == 0)
    call.refuse("is given the sizes (%zu, %zu, %zu).", rows, columns, interior);
  auto* made = new Multiplication(className);
  made->transposeLeft = left;
  made->transposeRight = right;
  made->rows = rows;
  made->columns = columns;
  made->interior = interior;
  made->alpha = alpha;
  made->beta = beta;
  return made;
}

}  // namespace

@implementation MPSMatrixMultiplication
- (instancetype)initWithDevice:(id<MTLDevice>)device
                 transposeLeft:(BOOL)transposeLeft
                transposeRight:(BOOL)transposeRight
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns
                         alpha:(double)alpha
                          beta:(double)beta {
  const Call call{"MPSMatrixMultiplication", _cmd};
  Multiplication* made = newMultiplication("MPSMatrixMultiplication", transposeLeft, transposeRight, resultRows,
                                           resultColumns, interiorColumns, alpha, beta, call);
  SOFT_KERNEL_INIT(made, device, shapeOf(*made));
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                   leftMatrix:(MPSMatrix*)leftMatrix
                  rightMatrix:(MPSMatrix*)rightMatrix
                 resultMatrix:(MPSMatrix*)resultMatrix {
  const Call call{"MPSMatrixMultiplication", _cmd};
  auto& kernel = static_cast<Multiplication&>(used(state_, call));
  const SoftExtent &a = softmetal::extentOf(leftMatrix, "left matrix", call),
                   &b = softmetal::extentOf(rightMatrix, "right matrix", call),
                   &c = softmetal::extentOf(resultMatrix, "result matrix", call);
  const auto [first, last] = softmetal::batchOf(kernel, {&a, &b, &c}, call);
  for (size_t i = first; i < last; ++i) {
    const View left = kernel.left(a, i, call), right = kernel.right(b, i, call);
    const View result =
        softmetal::viewOf(c, "the result matrix", kernel.resultOrigin, i, kernel.rows, kernel.columns, call);
    softmetal::checkApart(result, left, false, call);
    softmetal::checkApart(result, right, false, call);
    softmetal::record(
        kernel, commandBuffer, {&a, &b, &c}, {result},
        [=, l = kernel.transposeLeft, r = kernel.transposeRight, alpha = kernel.alpha, beta = kernel.beta] {
          compute(left, l, right, r, result, alpha, beta);
        },
        call);
  }
}
- (MTLOrigin)leftMatrixOrigin {
  return used(state_, Call{"MPSMatrixMultiplication", _cmd}).firstOrigin;
}
- (void)setLeftMatrixOrigin:(MTLOrigin)origin {
  used(state_, Call{"MPSMatrixMultiplication", _cmd}).firstOrigin = origin;
}
- (MTLOrigin)rightMatrixOrigin {
  return used(state_, Call{"MPSMatrixMultiplication", _cmd}).secondOrigin;
}
- (void)setRightMatrixOrigin:(MTLOrigin)origin {
  used(state_, Call{"MPSMatrixMultiplication", _cmd}).secondOrigin = origin;
}
- (MTLOrigin)resultMatrixOrigin {
  return used(state_, Call{"MPSMatrixMultiplication", _cmd}).resultOrigin;
}
- (void)setResultMatrixOrigin:(MTLOrigin)origin {
  used(state_, Call{"MPSMatrixMultiplication", _cmd}).resultOrigin = origin;
}
- (NSUInteger)batchStart {
  return used(state_, Call{"MPSMatrixMultiplication", _cmd}).batchStart;
}
- (void)setBatchStart:(NSUInteger)start {
  used(state_, Call{"MPSMatrixMultiplication", _cmd}).batchStart = start;
}
- (NSUInteger)batchSize {
  return used(state_, Call{"MPSMatrixMultiplication", _cmd}).batchSize;
}
- (void)setBatchSize:(NSUInteger)size {
  used(state_, Call{"MPSMatrixMultiplication", _cmd}).batchSize = size;
}
@end

@implementation MPSMatrixVectorMultiplication
- (instancetype)initWithDevice:(id<MTLDevice>)device
                     transpose:(BOOL)transpose
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns
                         alpha:(double)alpha
                          beta:(double)beta {
  const Call call{"MPSMatrixVectorMultiplication", _cmd};
  // The vectors are rows: y^T = x^T op(A)^T.
  Multiplication* made =
      newMultiplication("MPSMatrixVectorMultiplication", transpose, false, rows, 1, columns, alpha, beta, call);
  SOFT_KERNEL_INIT(made, device, shapeOf(*made));
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix*)inputMatrix
                  inputVector:(MPSVector*)inputVector
                 resultVector:(MPSVector*)resultVector {
  const Call call{"MPSMatrixVectorMultiplication", _cmd};
  auto& kernel = static_cast<Multiplication&>(used(state_, call));
  const SoftExtent &a = softmetal::extentOf(inputMatrix, "input matrix", call),
                   &x = softmetal::extentOf(inputVector, "input vector", call),
                   &y = softmetal::extentOf(resultVector, "result vector", call);
  const MTLOrigin fromX = kernel.secondOrigin, fromY = kernel.resultOrigin;
  if (fromX.y != 0 || fromY.y != 0) call.refuse("has an origin of a vector with y.");
  const auto [first, last] = softmetal::batchOf(kernel, {&a, &x, &y}, call);
  for (size_t i = first; i < last; ++i) {
    const View matrix = kernel.left(a, i, call);
    const View input =
        softmetal::viewOf(x, "the input vector", MTLOriginMake(0, fromX.x, fromX.z), i, 1, kernel.interior, call);
    const View result =
        softmetal::viewOf(y, "the result vector", MTLOriginMake(0, fromY.x, fromY.z), i, 1, kernel.rows, call);
    softmetal::checkApart(result, matrix, false, call);
    softmetal::checkApart(result, input, false, call);
    softmetal::record(
        kernel, commandBuffer, {&a, &x, &y}, {result},
        [=, transposed = kernel.transposeLeft, alpha = kernel.alpha, beta = kernel.beta] {
          compute(input, false, matrix, !transposed, result, alpha, beta);
        },
        call);
  }
}
@end
