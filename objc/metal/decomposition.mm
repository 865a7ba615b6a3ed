#include "command-buffer.h"

namespace covarium::metal {

// Decompositions are LAPACK's, over the bytes that both see.
void MetalCommandBuffer::transpose(Operand from, Operand to, size_t rows, size_t columns) {
  onCpu().transpose(from, to, rows, columns);
}

void MetalCommandBuffer::symmetricEigen(Operand a, Operand values, size_t n) { onCpu().symmetricEigen(a, values, n); }

void MetalCommandBuffer::echelon(Operand rows, Operand pivots, size_t n, double tolerance) {
  onCpu().echelon(rows, pivots, n, tolerance);
}

void MetalCommandBuffer::lq(Operand a, Operand q, size_t m, size_t n) { onCpu().lq(a, q, m, n); }

void MetalCommandBuffer::svd(Operand a, Operand u, Operand values, Operand v, size_t m, size_t n, bool graded) {
  onCpu().svd(a, u, values, v, m, n, graded);
}

void MetalCommandBuffer::pivotedCholesky(Operand a, Operand order, size_t n, double tolerance) {
  onCpu().pivotedCholesky(a, order, n, tolerance);
}

void MetalCommandBuffer::lu(Operand a, Operand pivots, size_t n) { onCpu().lu(a, pivots, n); }

void MetalCommandBuffer::luSolve(Operand lu, Operand pivots, Operand rows, size_t n) {
  onCpu().luSolve(lu, pivots, rows, n);
}

}  // namespace covarium::metal
