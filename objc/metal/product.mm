#include "product.h"

#include <algorithm>

#include "gpu.h"
#include "rows.h"

namespace covarium::metal {

void product(Encoding& encoding, View a, View b, View c, const ProductShape& shape) {
  const size_t m = shape.m, n = shape.n, k = shape.k;
  const size_t columnsOfA = shape.transposeA ? m : k, columnsOfB = shape.transposeB ? k : n;
  const MatrixView left = {a, shape.transposeA ? k : m, columnsOfA, columnsOfA};
  const MatrixView right = {b, shape.transposeB ? n : k, columnsOfB, columnsOfB};
  Mps& mps = encoding.gpu().mps();
  if (m == 1) {
    mps.vectorProduct(encoding, right, !shape.transposeB, a, c, shape.alpha, shape.beta);
    return;
  }
  if (n == 1) {
    mps.vectorProduct(encoding, left, shape.transposeA, b, c, shape.alpha, shape.beta);
    return;
  }
  forSlices(m, rowsPerBlock(std::max(n, k)), [&](size_t first, size_t here) {
    const MatrixView block = shape.transposeA ? left.block(0, first, k, here) : left.block(first, 0, here, k);
    mps.product(encoding, block, shape.transposeA, right, shape.transposeB, {c.from(first * n), here, n, n},
                shape.alpha, shape.beta);
    encoding.worked(secondsFor(2.0 * here * n * k, 4.0 * here * (n + k)));
  });
}

}  // namespace covarium::metal
