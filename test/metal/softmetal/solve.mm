#include "ledger.h"
#include "linear-algebra.h"
#include "matrix-kernel.h"
#include "settings.h"

using softmetal::Call;
using softmetal::Triangle;
using softmetal::View;

namespace {

struct Solve : SoftKernel {
  using SoftKernel::SoftKernel;
  Triangle triangle = {};
  bool cholesky = false;  // both triangles of a factor, one after the other
  size_t order = 0, rightHandSides = 0;
  double alpha = 1;
};

void solve(const View& a, const View& b, const View& x, Triangle triangle, bool cholesky, double alpha) {
  if (x.bytes != b.bytes) {
    for (size_t row = 0; row < x.rows; ++row)
      for (size_t column = 0; column < x.columns; ++column) x.at(row, column) = b.at(row, column);
  }
  // A = L L^T or U^T U: the one that stands first is solved first.
  if (cholesky) triangle.transpose = triangle.upper;
  softmetal::solveTriangular(a, triangle, alpha, x);
  if (!cholesky) return;
  triangle.transpose = !triangle.transpose;
  softmetal::solveTriangular(a, triangle, 1, x);
}

void encode(Solve& kernel, id<MTLCommandBuffer> commandBuffer, MPSMatrix* source, MPSMatrix* rightHandSide,
            MPSMatrix* solution, const Call& call) {
  const SoftExtent &a = softmetal::extentOf(source, "source matrix", call),
                   &b = softmetal::extentOf(rightHandSide, "right hand side matrix", call),
                   &x = softmetal::extentOf(solution, "solution matrix", call);
  const size_t n = kernel.order;
  const size_t rows = kernel.triangle.right ? kernel.rightHandSides : n;
  const size_t columns = kernel.triangle.right ? n : kernel.rightHandSides;
  const auto [first, last] = softmetal::batchOf(kernel, {&a, &b, &x}, call);
  for (size_t i = first; i < last; ++i) {
    const View factor = softmetal::viewOf(a, "the source matrix", kernel.firstOrigin, i, n, n, call);
    const View given = softmetal::viewOf(b, "the right hand side matrix", kernel.secondOrigin, i, rows, columns, call);
    const View result = softmetal::viewOf(x, "the solution matrix", kernel.resultOrigin, i, rows, columns, call);
    softmetal::checkApart(result, factor, false, call);
    softmetal::checkApart(result, given, true, call);
    softmetal::record(
        kernel, commandBuffer, {&a, &b, &x}, {result},
        [=, triangle = kernel.triangle, cholesky = kernel.cholesky, alpha = kernel.alpha] {
          solve(factor, given, result, triangle, cholesky, alpha);
        },
        call);
  }
}

std::string shapeOf(const Solve& solve) {
  const Triangle& t = solve.triangle;
  return std::string(t.right ? "right " : "left ") + (t.upper ? "upper " : "lower ") + (t.transpose ? "T " : "N ") +
         (t.unit ? "unit " : "") + std::to_string(solve.order) + "x" + std::to_string(solve.rightHandSides) + " " +
         std::to_string(solve.alpha);
}

Solve* newSolve(const char* className, Triangle triangle, size_t order, size_t rightHandSides, double alpha,
                const Call& call) {
  if (order == 0 || rightHandSides == 0)
    call.refuse("is given order (%zu) and (%zu) right hand sides.", order, rightHandSides);
  auto* made = new Solve(className);
  made->triangle = triangle;
  made->order = order;
  made->rightHandSides = rightHandSides;
  made->alpha = alpha;
  return made;
}

}  // namespace

@implementation MPSMatrixSolveTriangular
- (instancetype)initWithDevice:(id<MTLDevice>)device
                         right:(BOOL)right
                         upper:(BOOL)upper
                     transpose:(BOOL)transpose
                          unit:(BOOL)unit
                         order:(NSUInteger)order
        numberOfRightHandSides:(NSUInteger)numberOfRightHandSides
                         alpha:(double)alpha {
  const Call call{"MPSMatrixSolveTriangular", _cmd};
  const Triangle triangle = {right != NO, upper != NO, transpose != NO, unit != NO};
  Solve* made = newSolve("MPSMatrixSolveTriangular", triangle, order, numberOfRightHandSides, alpha, call);
  SOFT_KERNEL_INIT(made, device, shapeOf(*made));
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                 sourceMatrix:(MPSMatrix*)sourceMatrix
          rightHandSideMatrix:(MPSMatrix*)rightHandSideMatrix
               solutionMatrix:(MPSMatrix*)solutionMatrix {
  const Call call{"MPSMatrixSolveTriangular", _cmd};
  encode(static_cast<Solve&>(used(state_, call)), commandBuffer, sourceMatrix, rightHandSideMatrix, solutionMatrix,
         call);
}
@end

@implementation MPSMatrixSolveCholesky
- (instancetype)initWithDevice:(id<MTLDevice>)device
                         upper:(BOOL)upper
                         order:(NSUInteger)order
        numberOfRightHandSides:(NSUInteger)numberOfRightHandSides {
  const Call call{"MPSMatrixSolveCholesky", _cmd};
  Solve* made =
      newSolve("MPSMatrixSolveCholesky", {false, upper != NO, false, false}, order, numberOfRightHandSides, 1, call);
  made->cholesky = true;
  SOFT_KERNEL_INIT(made, device, shapeOf(*made));
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                 sourceMatrix:(MPSMatrix*)sourceMatrix
          rightHandSideMatrix:(MPSMatrix*)rightHandSideMatrix
               solutionMatrix:(MPSMatrix*)solutionMatrix {
  const Call call{"MPSMatrixSolveCholesky", _cmd};
  encode(static_cast<Solve&>(used(state_, call)), commandBuffer, sourceMatrix, rightHandSideMatrix, solutionMatrix,
         call);
}
@end
