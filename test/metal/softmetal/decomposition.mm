#include <cmath>
#include <cstring>

#include "ledger.h"
#include "linear-algebra.h"
#include "matrix-kernel.h"
#include "settings.h"

using softmetal::Call;
using softmetal::View;

namespace {

struct Cholesky : SoftKernel {
  using SoftKernel::SoftKernel;
  bool lower = true;
  size_t order = 0;
};

bool isInTriangle(size_t row, size_t column, bool lower) { return lower ? column <= row : row <= column; }

// Apple may leave anything in the triangle without the factor, so it is NaN here.
void decompose(const View& source, const View& result, bool lower, int32_t* status) {
  for (size_t row = 0; row < result.rows; ++row)
    for (size_t column = 0; column < result.columns; ++column)
      result.at(row, column) = isInTriangle(row, column, lower) ? source.at(row, column) : NAN;
  const int failed = softmetal::factor(result, lower);
  int32_t answer = failed < 0 ? MPSMatrixDecompositionStatusSuccess : MPSMatrixDecompositionStatusNonPositiveDefinite;
  if (const int64_t forced = softmetal::number("choleskyStatus"); forced != 0) {
    answer = static_cast<int32_t>(forced);
    softmetal::fillWithNaN(result);
  }
  if (status != nullptr) memcpy(status, &answer, sizeof answer);
}

}  // namespace

@implementation MPSMatrixDecompositionCholesky
- (instancetype)initWithDevice:(id<MTLDevice>)device lower:(BOOL)lower order:(NSUInteger)order {
  const Call call{"MPSMatrixDecompositionCholesky", _cmd};
  if (order == 0) call.refuse("is given order (0).");
  auto* made = new Cholesky("MPSMatrixDecompositionCholesky");
  made->lower = lower;
  made->order = order;
  SOFT_KERNEL_INIT(made, device, (lower ? "lower " : "upper ") + std::to_string(order));
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                 sourceMatrix:(MPSMatrix*)sourceMatrix
                 resultMatrix:(MPSMatrix*)resultMatrix
                       status:(id<MTLBuffer>)status {
  const Call call{"MPSMatrixDecompositionCholesky", _cmd};
  auto& kernel = static_cast<Cholesky&>(used(state_, call));
  const SoftExtent &from = softmetal::extentOf(sourceMatrix, "source matrix", call),
                   &to = softmetal::extentOf(resultMatrix, "result matrix", call);
  const auto [first, last] = softmetal::batchOf(kernel, {&from, &to}, call);
  if (status != nil && softmetal::bufferOf(status, call).length < (last - first) * sizeof(int32_t))
    call.refuse("is given a status buffer of (%zu) bytes for (%zu) matrices.", softmetal::bufferOf(status, call).length,
                last - first);
  for (size_t i = first; i < last; ++i) {
    const size_t n = kernel.order;
    const View source = softmetal::viewOf(from, "the source matrix", kernel.firstOrigin, i, n, n, call);
    const View result = softmetal::viewOf(to, "the result matrix", kernel.resultOrigin, i, n, n, call);
    softmetal::checkApart(result, source, true, call);
    auto* answer =
        status == nil ? nullptr : reinterpret_cast<int32_t*>(softmetal::bufferOf(status, call).bytes) + (i - first);
    softmetal::record(
        kernel, commandBuffer, {&from, &to}, {result},
        [=, lower = kernel.lower] { decompose(source, result, lower, answer); }, call);
    if (status != nil) softmetal::recording(commandBuffer, call).uses(status, call);
  }
}
@end
