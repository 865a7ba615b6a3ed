// The MPS kernels compared with plain loops. Prints what is wrong; ends with 0 if nothing is.
#include <cmath>
#include <functional>

#include "checks.h"
#include "fixture.h"

namespace {

using Entry = std::function<double(size_t, size_t)>;

float scattered(size_t i) { return static_cast<float>(static_cast<int>(i * 7919 % 211) - 105) / 64.0f; }

// rows x columns with a stride of `stride` floats, and NaN between the rows.
struct Matrix {
  Matrix(Fixture& fixture, size_t rows, size_t columns, size_t stride, const Entry& entry)
      : rows(rows), columns(columns), stride(stride) {
    std::vector<float> values(rows * stride, NAN);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) values[i * stride + j] = static_cast<float>(entry(i, j));
    buffer = fixture.newFloats(values);
    MPSMatrixDescriptor* descriptor = [MPSMatrixDescriptor matrixDescriptorWithRows:rows
                                                                            columns:columns
                                                                           rowBytes:stride * sizeof(float)
                                                                           dataType:MPSDataTypeFloat32];
    matrix = [[MPSMatrix alloc] initWithBuffer:buffer offset:0 descriptor:descriptor];
    vector = newVector(buffer, columns);
  }
  ~Matrix() {
    [vector release];
    [matrix release];
    [buffer release];
  }
  double at(size_t i, size_t j) const { return static_cast<float*>([buffer contents])[i * stride + j]; }
  Entry entries() const {
    return [this](size_t i, size_t j) { return at(i, j); };
  }
  void is(const Entry& expected, const char* what) const {
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j)
        if (!(std::fabs(at(i, j) - expected(i, j)) < 1e-4 * (1 + std::fabs(expected(i, j))))) return check(false, what);
  }

  size_t rows, columns, stride;
  id<MTLBuffer> buffer;
  MPSMatrix* matrix;
  MPSVector* vector;  // the first row
};

Entry transposed(Entry a) {
  return [a](size_t i, size_t j) { return a(j, i); };
}
Entry product(Entry a, Entry b, size_t k) {
  return [=](size_t i, size_t j) {
    double sum = 0;
    for (size_t l = 0; l < k; ++l) sum += a(i, l) * b(l, j);
    return sum;
  };
}
const Entry any = [](size_t i, size_t j) { return scattered(31 * i + j + 1); };
const Entry unset = [](size_t, size_t) { return NAN; };
// A lower factor with a large diagonal.
Entry lowerFactor() {
  return [](size_t i, size_t j) {
    return j > i ? 0.0 : i == j ? 2.0 + double(i % 3) : double(scattered(5 * i + j)) / 4;
  };
}

void run(Fixture& fixture, const std::function<void(id<MTLCommandBuffer>)>& encode) {
  id<MTLCommandBuffer> buffer = [fixture.queue commandBuffer];
  encode(buffer);
  [buffer commit];
  [buffer waitUntilCompleted];
  check([buffer status] == MTLCommandBufferStatusCompleted, "the command buffer completes");
}

void multiplication(Fixture& fixture, size_t m, size_t n, size_t k, bool left, bool right) {
  Matrix a(fixture, left ? k : m, left ? m : k, (left ? m : k) + 3, any);
  Matrix b(fixture, right ? n : k, right ? k : n, (right ? k : n) + 1, any);
  const Entry opA = left ? transposed(a.entries()) : a.entries(), opB = right ? transposed(b.entries()) : b.entries();
  for (const double beta : {0.0, -0.5}) {
    Matrix c(fixture, m, n, n + 2, beta == 0 ? unset : any);
    MPSMatrixMultiplication* kernel = [[MPSMatrixMultiplication alloc] initWithDevice:fixture.device
                                                                        transposeLeft:left
                                                                       transposeRight:right
                                                                           resultRows:m
                                                                        resultColumns:n
                                                                      interiorColumns:k
                                                                                alpha:1.5
                                                                                 beta:beta];
    run(fixture, [&](id<MTLCommandBuffer> buffer) {
      [kernel encodeToCommandBuffer:buffer leftMatrix:a.matrix rightMatrix:b.matrix resultMatrix:c.matrix];
    });
    const Entry ab = product(opA, opB, k);
    c.is([&](size_t i, size_t j) { return 1.5 * ab(i, j) + (beta == 0 ? 0 : beta * any(i, j)); }, "a product");
    [kernel release];
  }
}

void vectorMultiplication(Fixture& fixture, size_t rows, size_t columns, bool transpose) {
  Matrix a(fixture, transpose ? columns : rows, transpose ? rows : columns, 20, any);
  Matrix x(fixture, 1, columns, columns, any), y(fixture, 1, rows, rows, unset);
  MPSMatrixVectorMultiplication* kernel = [[MPSMatrixVectorMultiplication alloc] initWithDevice:fixture.device
                                                                                      transpose:transpose
                                                                                           rows:rows
                                                                                        columns:columns
                                                                                          alpha:2
                                                                                           beta:0];
  run(fixture, [&](id<MTLCommandBuffer> buffer) {
    [kernel encodeToCommandBuffer:buffer inputMatrix:a.matrix inputVector:x.vector resultVector:y.vector];
  });
  const Entry ax = product(transpose ? transposed(a.entries()) : a.entries(), transposed(x.entries()), columns);
  y.is([&](size_t, size_t j) { return 2 * ax(j, 0); }, "a matrix-vector product");
  [kernel release];
}

void decomposition(Fixture& fixture, size_t n, bool lower) {
  const Entry l = lowerFactor(), a = product(l, transposed(l), n);
  Matrix source(fixture, n, n, n, a), result(fixture, n, n, n, unset), status(fixture, 1, 1, 1, unset);
  MPSMatrixDecompositionCholesky* kernel =
      [[MPSMatrixDecompositionCholesky alloc] initWithDevice:fixture.device lower:lower order:n];
  const auto decompose = [&](Matrix& from, Matrix& to) {
    run(fixture, [&](id<MTLCommandBuffer> buffer) {
      [kernel encodeToCommandBuffer:buffer sourceMatrix:from.matrix resultMatrix:to.matrix status:status.buffer];
    });
    return *static_cast<int32_t*>([status.buffer contents]);
  };
  check(decompose(source, result) == MPSMatrixDecompositionStatusSuccess, "a decomposition succeeds");
  bool right = true;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      const double entry = lower ? result.at(i, j) : result.at(j, i);
      right &= j > i ? std::isnan(entry) : std::fabs(entry - l(i, j)) < 1e-3;
    }
  }
  check(right, "the factor, and NaN in the other triangle");
  check(decompose(source, source) == 0 && std::fabs(source.at(n - 1, n - 1) - l(n - 1, n - 1)) < 1e-3, "in place");
  Matrix bad(fixture, n, n, n, [&](size_t i, size_t j) { return i == n - 1 && j == n - 1 ? -1.0 : a(i, j); });
  check(decompose(bad, result) == MPSMatrixDecompositionStatusNonPositiveDefinite, "a bad pivot is told");
  softmetal_set("choleskyStatus", "-2");
  check(decompose(bad, result) == MPSMatrixDecompositionStatusSingular, "a status is forced");
  softmetal_reset();
  [kernel release];
}

void sum(Fixture& fixture, size_t rows, size_t columns, bool transpose) {
  Matrix a(fixture, rows, columns, columns, any), b(fixture, rows, columns, columns + 5, any);
  Matrix scales(fixture, 1, 2, 2, [](size_t, size_t j) { return j == 0 ? 2.0 : -0.5; });
  const size_t across = transpose ? rows : columns;
  Matrix bias(fixture, 1, across, across, any), result(fixture, transpose ? columns : rows, across, across, unset);
  MPSMatrixSum* kernel =
      [[MPSMatrixSum alloc] initWithDevice:fixture.device count:2 rows:rows columns:columns transpose:transpose];
  check([kernel rows] == rows && [kernel columns] == columns && [kernel count] == 2, "a sum tells its shape");
  run(fixture, [&](id<MTLCommandBuffer> buffer) {
    [kernel encodeToCommandBuffer:buffer
                   sourceMatrices:[NSArray arrayWithObjects:a.matrix, b.matrix, nil]
                     resultMatrix:result.matrix
                      scaleVector:scales.vector
                     offsetVector:nil
                       biasVector:bias.vector
                       startIndex:0];
  });
  result.is([&](size_t i, size_t j) { return 1.5 * (transpose ? any(j, i) : any(i, j)) + any(0, j); }, "a sum");
  [kernel release];
}

void copy(Fixture& fixture, bool fromTransposed, bool toTransposed) {
  Matrix from(fixture, 9, 9, 9, any), to(fixture, 9, 9, 10, unset);
  const MPSMatrixCopyOffsets offsets = {1, 2, 3, 0};
  MPSMatrixCopy* kernel = [[MPSMatrixCopy alloc] initWithDevice:fixture.device
                                                       copyRows:4
                                                    copyColumns:5
                                           sourcesAreTransposed:fromTransposed
                                      destinationsAreTransposed:toTransposed];
  run(fixture, [&](id<MTLCommandBuffer> buffer) {
    [kernel encodeToCommandBuffer:buffer
                   copyDescriptor:[MPSMatrixCopyDescriptor descriptorWithSourceMatrix:from.matrix
                                                                    destinationMatrix:to.matrix
                                                                              offsets:offsets]];
  });
  bool right = true;
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 5; ++j)
      right &= to.at(3 + (toTransposed ? j : i), toTransposed ? i : j) ==
               from.at(1 + (fromTransposed ? j : i), 2 + (fromTransposed ? i : j));
  check(right && std::isnan(to.at(2, 0)), "a copy");
  [kernel release];
}

void breaks(Fixture& fixture) {
  softmetal_set("mpsUnsupported", "1");
  check(!MPSSupportsMTLDevice(fixture.device) &&
            [[MPSMatrixDecompositionCholesky alloc] initWithDevice:fixture.device lower:YES order:2] == nil,
        "a device without MPS");
  softmetal_reset();
}

}  // namespace

int main() {
  @autoreleasepool {
    Fixture fixture;
    for (const size_t n : {1, 2, 7, 33}) {
      for (const bool one : {false, true}) {
        for (const bool two : {false, true}) multiplication(fixture, n, n / 2 + 1, 2 * n, one, two);
        decomposition(fixture, n, one);
        sum(fixture, n, 3, one);
      }
    }
    for (const bool transpose : {false, true}) {
      vectorMultiplication(fixture, 11, 19, transpose);
      for (const bool other : {false, true}) copy(fixture, transpose, other);
    }
    breaks(fixture);
  }
  checkNothingLives();
  return failures() == 0 ? 0 : 1;
}
