// How the work of a command is cut: by the type of its operands, into pieces or blocks of rows that threads share.
#pragma once

#include <algorithm>

#include "../buffer.h"
#include "execution.h"
#include "triangular.h"

namespace covarium::cpu {

// Calls body with a value of the operand's type: float or double.
template <typename Body>
void withReal(const Operand& operand, const Body& body) {
  if (operand.dtype == Dtype::float32) return body(float());
  if (operand.dtype == Dtype::float64) return body(double());
  throw Failure("ERR_UNSUPPORTED_DTYPE", "A command of linear algebra has an operand of integers.");
}

constexpr size_t pieceElements = 1 << 16;  // of an elementwise command: a share worth waking a thread for

template <typename Body>
void forPieces(const Execution& execution, size_t length, const Body& body) {
  execution.pool.run((length + pieceElements - 1) / pieceElements, [&](size_t i, unsigned) {
    execution.stopIfCancelled();
    body(i * pieceElements, std::min(pieceElements, length - i * pieceElements));
  });
}

// Calls body(rows, count) for blocks of the rows of n, on all threads.
template <typename T, typename Body>
void forBlocksOf(const Execution& execution, const Operand& rows, size_t n, const Body& body) {
  const size_t count = rows.length / n;
  forRowBlocks(execution, count, rowsPerBlock(count, n, usefulThreads(count, n, execution.pool.threads())),
               [&](size_t first, size_t here, unsigned) { body(rows.as<T>() + first * n, here); });
}

// Calls body(kernels, rows, row, count) for blocks of rows, with the pointer to each block's first row.
template <typename Body>
void withRowBlocks(const Execution& execution, Operand rows, Operand row, const Body& body) {
  withReal(rows, [&](auto real) {
    using T = decltype(real);
    const size_t n = row.length;
    forRowBlocks(execution, rows.length / n, std::max<size_t>(1, pieceElements / n),
                 [&](size_t first, size_t count, unsigned) {
                   body(execution.kernels.of<T>(), rows.as<T>() + first * n, row.as<T>(), count);
                 });
  });
}

}  // namespace covarium::cpu
