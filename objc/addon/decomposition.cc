// The decompositions of EncoderObject.
#include <algorithm>

#include "arguments.h"
#include "encoder.h"

namespace covarium::addon {

void EncoderObject::transpose(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand from = operandAt(info, 0), to = operandAt(info, 1);
    requireSameType({&from, &to});
    if (from.length == 0 && to.length == 0) return;
    requireLength(from, sizeAt(info, 2), sizeAt(info, 3));
    requireLength(to, from.length);
    commands().transpose(from, to, sizeAt(info, 2), sizeAt(info, 3));
  });
}

void EncoderObject::symmetricEigen(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0), values = operandAt(info, 1);
    const size_t n = sizeAt(info, 2);
    requireSameType({&a, &values});
    requireSquare(a, n);
    requireLength(values, n);
    iterations().symmetricEigen(a, values, n, booleanAt(info, 3));
  });
}

void EncoderObject::echelon(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand rows = operandAt(info, 0), pivots = operandAt(info, 1);
    const size_t n = sizeAt(info, 2);
    requireSameType({&rows, &pivots});
    requireLength(rows, pivots.length, n);
    commands().echelon(rows, pivots, n, numberAt(info, 3));
  });
}

void EncoderObject::lq(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0), q = operandAt(info, 1);
    requireSameType({&a, &q});
    if (a.length == 0) return;
    const size_t m = sizeAt(info, 2), n = sizeAt(info, 3);
    requireLength(a, m, n);
    if (q.length != 0) requireLength(q, std::min(m, n), n);
    commands().lq(a, q, m, n);
  });
}

void EncoderObject::svd(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0), u = operandAt(info, 1), values = operandAt(info, 2), v = operandAt(info, 3);
    requireSameType({&a, &u, &values, &v});
    if (a.length == 0) return;
    const size_t m = sizeAt(info, 4), n = sizeAt(info, 5), k = std::min(m, n);
    const bool graded = booleanAt(info, 6);
    requireLength(a, m, n);
    requireLength(values, k);
    if (graded && m > n) throw Failure("ERR_SHAPE", "A graded matrix has at least as many columns as rows.");
    if (graded || u.length != 0 || v.length != 0) {
      if (!graded || u.length != 0) requireLength(u, m, k);
      requireLength(v, k, n);
    }
    iterations().svd(a, u, values, v, m, n, graded);
  });
}

void EncoderObject::pivotedCholesky(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0), order = operandAt(info, 1);
    const size_t n = sizeAt(info, 2);
    requireSameType({&a, &order});
    requireSquare(a, n);
    requireLength(order, n);
    commands().pivotedCholesky(a, order, n, numberAt(info, 3));
  });
}

void EncoderObject::lu(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0), pivots = operandAt(info, 1);
    const size_t n = sizeAt(info, 2);
    requireSameType({&a, &pivots});
    requireSquare(a, n);
    requireLength(pivots, n);
    commands().lu(a, pivots, n);
  });
}

void EncoderObject::luSolve(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand lu = operandAt(info, 0), pivots = operandAt(info, 1), rows = operandAt(info, 2);
    const size_t n = sizeAt(info, 3);
    requireSameType({&lu, &pivots, &rows});
    requireSquare(lu, n);
    requireLength(pivots, n);
    requireRows(rows, n);
    commands().luSolve(lu, pivots, rows, n);
  });
}

}  // namespace covarium::addon
