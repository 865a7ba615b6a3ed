#include "ledger.h"
#include "matrix-kernel.h"

using softmetal::Call;
using softmetal::View;

namespace {

struct Sum : SoftKernel {
  using SoftKernel::SoftKernel;
  size_t count = 0, rows = 0, columns = 0;
  bool transpose = false;
};

// Element `at` of a packed vector of `length` words or more.
const char* wordsOf(MPSVector* vector, const char* which, MPSDataType type, size_t length, const Call& call) {
  const SoftExtent& extent = softmetal::extentOf(vector, which, call);
  if (extent.dataType != type)
    call.refuse("is given a %s of data type (0x%x).", which, static_cast<unsigned>(extent.dataType));
  if (extent.columns < length)
    call.refuse("needs (%zu) entries of a %s of (%zu).", length, which, size_t{extent.columns});
  return extent.bytes;
}

struct Terms {
  std::vector<View> sources;     // whole matrices
  const uint32_t* offsets;       // row and column of each, read when the command runs; or null
  const float *scales, *biases;  // or null
};

void add(const Terms& terms, const View& result, size_t rows, size_t columns, bool transpose) {
  // A result may be one of the sources.
  std::vector<float> sums(rows * columns, 0.0f);
  for (size_t s = 0; s < terms.sources.size(); ++s) {
    const size_t fromRow = terms.offsets == nullptr ? 0 : terms.offsets[2 * s];
    const size_t fromColumn = terms.offsets == nullptr ? 0 : terms.offsets[2 * s + 1];
    const float scale = terms.scales == nullptr ? 1.0f : terms.scales[s];
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j)
        sums[i * columns + j] += scale * terms.sources[s].at(fromRow + i, fromColumn + j);
  }
  for (size_t i = 0; i < result.rows; ++i) {
    for (size_t j = 0; j < result.columns; ++j) {
      const float sum = transpose ? sums[j * columns + i] : sums[i * columns + j];
      result.at(i, j) = terms.biases == nullptr ? sum : sum + terms.biases[j];
    }
  }
}

}  // namespace

@implementation MPSMatrixSum
- (instancetype)initWithDevice:(id<MTLDevice>)device
                         count:(NSUInteger)count
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns
                     transpose:(BOOL)transpose {
  const Call call{"MPSMatrixSum", _cmd};
  if (count == 0 || rows == 0 || columns == 0)
    call.refuse("is given (%zu) matrices of (%zu x %zu).", size_t{count}, size_t{rows}, size_t{columns});
  auto* made = new Sum("MPSMatrixSum");
  made->count = count;
  made->rows = rows;
  made->columns = columns;
  made->transpose = transpose;
  SOFT_KERNEL_INIT(
      made, device,
      std::to_string(count) + " " + std::to_string(rows) + "x" + std::to_string(columns) + (transpose ? " T" : " N"));
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
               sourceMatrices:(NSArray<MPSMatrix*>*)sourceMatrices
                 resultMatrix:(MPSMatrix*)resultMatrix
                  scaleVector:(MPSVector*)scaleVector
                 offsetVector:(MPSVector*)offsetVector
                   biasVector:(MPSVector*)biasVector
                   startIndex:(NSUInteger)startIndex {
  const Call call{"MPSMatrixSum", _cmd};
  auto& kernel = static_cast<Sum&>(used(state_, call));
  if ([sourceMatrices count] != kernel.count)
    call.refuse("is given (%zu) matrices, not (%zu).", size_t{[sourceMatrices count]}, kernel.count);
  const SoftExtent& to = softmetal::extentOf(resultMatrix, "result matrix", call);
  const View result = softmetal::viewOf(to, "the result matrix", kernel.resultOrigin, 0,
                                        kernel.transpose ? kernel.columns : kernel.rows,
                                        kernel.transpose ? kernel.rows : kernel.columns, call);
  std::vector<const SoftExtent*> operands = {&to};
  Terms terms = {};
  if (scaleVector != nil) {
    operands.push_back(&softmetal::extentOf(scaleVector, "scale vector", call));
    terms.scales = reinterpret_cast<const float*>(
                       wordsOf(scaleVector, "scale vector", MPSDataTypeFloat32, startIndex + kernel.count, call)) +
                   startIndex;
  }
  if (offsetVector != nil) {
    operands.push_back(&softmetal::extentOf(offsetVector, "offset vector", call));
    const size_t words = 2 * (startIndex + kernel.count);
    terms.offsets =
        reinterpret_cast<const uint32_t*>(wordsOf(offsetVector, "offset vector", MPSDataTypeUInt32, words, call)) +
        2 * startIndex;
  }
  if (biasVector != nil) {
    operands.push_back(&softmetal::extentOf(biasVector, "bias vector", call));
    terms.biases =
        reinterpret_cast<const float*>(wordsOf(biasVector, "bias vector", MPSDataTypeFloat32, result.columns, call));
  }
  for (MPSMatrix* matrix in sourceMatrices) {
    const SoftExtent& from = softmetal::extentOf(matrix, "source matrix", call);
    operands.push_back(&from);
    const View source =
        softmetal::viewOf(from, "the source matrix", MTLOriginMake(0, 0, 0), 0, offsetVector == nil ? kernel.rows : 1,
                          offsetVector == nil ? kernel.columns : 1, call);
    softmetal::checkApart(result, source, !kernel.transpose, call);
    terms.sources.push_back(source);
  }
  softmetal::record(
      kernel, commandBuffer, operands, {result},
      [=, rows = kernel.rows, columns = kernel.columns, transpose = kernel.transpose] {
        add(terms, result, rows, columns, transpose);
      },
      call);
}
- (NSUInteger)rows {
  return static_cast<Sum&>(used(state_, Call{"MPSMatrixSum", _cmd})).rows;
}
- (NSUInteger)columns {
  return static_cast<Sum&>(used(state_, Call{"MPSMatrixSum", _cmd})).columns;
}
- (NSUInteger)count {
  return static_cast<Sum&>(used(state_, Call{"MPSMatrixSum", _cmd})).count;
}
- (BOOL)transpose {
  return static_cast<Sum&>(used(state_, Call{"MPSMatrixSum", _cmd})).transpose;
}
- (MTLOrigin)resultMatrixOrigin {
  return used(state_, Call{"MPSMatrixSum", _cmd}).resultOrigin;
}
- (void)setResultMatrixOrigin:(MTLOrigin)origin {
  used(state_, Call{"MPSMatrixSum", _cmd}).resultOrigin = origin;
}
@end
