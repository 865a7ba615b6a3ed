// The decompositions of CpuCommandBuffer, and its commands that use a factor.
#include <utility>

#include "command-buffer.h"
#include "decomposition.h"
#include "few-rows.h"
#include "pieces.h"
#include "triangular.h"

namespace covarium::cpu {

void CpuCommandBuffer::recordDecomposition(std::function<void(const Execution&)> command) {
  const std::string& absent = engine_->blas.lapackLacks;
  if (!absent.empty())
    throw Failure("ERR_UNSUPPORTED", engine_->blas.name + " lacks the LAPACK routine " + absent + ".");
  record(std::move(command));
}

void CpuCommandBuffer::triangularProduct(Operand factor, Operand rows, size_t n, bool transposed) {
  record([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      if (!transposed && rows.length <= fewRowsLimit * n)
        return multiplyFewRows(execution, factor.as<T>(), rows.as<T>(), rows.length / n, n);
      forBlocksOf<T>(execution, rows, n, [&](T* block, size_t count) {
        multiplyRows(execution, factor.as<T>(), block, count, n, transposed);
      });
    });
  });
}

void CpuCommandBuffer::multiplyColumns(Operand columns, Operand start, Operand z, Operand out, size_t n) {
  record([=](const Execution& execution) {
    withReal(out, [&](auto real) {
      using T = decltype(real);
      const T* mean = start.length == 0 ? nullptr : start.as<T>();
      cpu::multiplyColumns(execution, columns.as<const T>(), mean, z.as<const T>(), out.as<T>(), out.length / n, n);
    });
  });
}

void CpuCommandBuffer::triangularSolve(Operand factor, Operand rows, size_t n, bool transposed) {
  record([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      forBlocksOf<T>(execution, rows, n, [&](T* block, size_t count) {
        solveRows(execution, factor.as<T>(), block, count, n, transposed);
      });
    });
  });
}

void CpuCommandBuffer::choleskySolve(Operand factor, Operand rows, size_t n) {
  record([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      forBlocksOf<T>(execution, rows, n, [&](T* block, size_t count) {
        solveRows(execution, factor.as<T>(), block, count, n, false);
        solveRows(execution, factor.as<T>(), block, count, n, true);
      });
    });
  });
}

void CpuCommandBuffer::transpose(Operand from, Operand to, size_t rows, size_t columns) {
  record([=](const Execution& execution) {
    withReal(from, [&](auto real) {
      using T = decltype(real);
      cpu::transpose(execution, from.as<T>(), to.as<T>(), rows, columns);
    });
  });
}

void CpuCommandBuffer::symmetricEigen(Operand a, Operand values, size_t n, bool vectors) {
  recordDecomposition([=](const Execution& execution) {
    withReal(a, [&](auto real) {
      using T = decltype(real);
      cpu::symmetricEigen(execution, a.as<T>(), values.as<T>(), n, vectors);
    });
  });
}

void CpuCommandBuffer::echelon(Operand rows, Operand pivots, size_t n, double tolerance) {
  recordDecomposition([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      cpu::echelon(execution, rows.as<T>(), pivots.as<T>(), pivots.length, n, tolerance);
    });
  });
}

void CpuCommandBuffer::lq(Operand a, Operand q, size_t m, size_t n) {
  recordDecomposition([=](const Execution& execution) {
    withReal(a, [&](auto real) {
      using T = decltype(real);
      cpu::lq(execution, a.as<T>(), q.length == 0 ? nullptr : q.as<T>(), m, n);
    });
  });
}

void CpuCommandBuffer::svd(Operand a, Operand u, Operand values, Operand v, size_t m, size_t n, bool graded) {
  recordDecomposition([=](const Execution& execution) {
    withReal(a, [&](auto real) {
      using T = decltype(real);
      T* vectors = u.length == 0 ? nullptr : u.as<T>();
      cpu::svd(execution, a.as<T>(), vectors, values.as<T>(), v.length == 0 ? nullptr : v.as<T>(), m, n, graded);
    });
  });
}

void CpuCommandBuffer::pivotedCholesky(Operand a, Operand order, size_t n, double tolerance) {
  recordDecomposition([=](const Execution& execution) {
    withReal(a, [&](auto real) {
      using T = decltype(real);
      cpu::pivotedCholesky(execution, a.as<T>(), order.as<T>(), n, tolerance);
    });
  });
}

void CpuCommandBuffer::lu(Operand a, Operand pivots, size_t n) {
  record([=](const Execution& execution) {
    withReal(a, [&](auto real) {
      using T = decltype(real);
      cpu::lu(execution, a.as<T>(), pivots.as<T>(), n);
    });
  });
}

void CpuCommandBuffer::luSolve(Operand lu, Operand pivots, Operand rows, size_t n) {
  record([=](const Execution& execution) {
    withReal(rows, [&](auto real) {
      using T = decltype(real);
      cpu::luSolve(execution, lu.as<T>(), pivots.as<T>(), rows.as<T>(), rows.length / n, n);
    });
  });
}

}  // namespace covarium::cpu
