#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include "buffer.h"
#include "object.h"

// A matrix or vector over a buffer; a vector is a matrix of one row.
struct SoftExtent : softmetal::Counted {
  SoftExtent(const char* className, id<MTLBuffer> data, size_t offset, const softmetal::Call& call);
  // Refuses a layout that the buffer or the data type does not allow.
  void check(const softmetal::Call& call) const;

  softmetal::Ref<id<MTLBuffer>> data;
  char* const bytes;  // where it begins
  const size_t offset, bufferLength;
  NSUInteger rows = 1, columns = 0, matrices = 1;
  size_t rowBytes = 0, matrixBytes = 0;
  MPSDataType dataType = MPSDataTypeFloat32;
};

struct SoftMatrix : SoftExtent {
  using SoftExtent::SoftExtent;
};
struct SoftVector : SoftExtent {
  using SoftExtent::SoftExtent;
};

@interface MPSMatrix (Software)
- (SoftMatrix*)soft;
@end

@interface MPSVector (Software)
- (SoftVector*)soft;
@end

namespace softmetal {

// One matrix as a kernel sees it, from its origin on.
struct View {
  char* bytes;
  size_t rows, columns, rowBytes;
  float& at(size_t row, size_t column) const { return reinterpret_cast<float*>(bytes + row * rowBytes)[column]; }
  int stride() const { return static_cast<int>(rowBytes / sizeof(float)); }
  const char* end() const { return bytes + (rows - 1) * rowBytes + columns * sizeof(float); }
};

// The states of operands; both refuse nil and released objects.
const SoftExtent& extentOf(MPSMatrix* matrix, const char* which, const Call& call);
const SoftExtent& extentOf(MPSVector* vector, const char* which, const Call& call);

// rows x columns of matrix `index` from the origin on (x counts rows, y columns). Refuses a view beyond the matrix,
// and types other than float32.
View viewOf(const SoftExtent& extent, const char* which, MTLOrigin origin, size_t index, size_t rows, size_t columns,
            const Call& call);

void fillWithNaN(const View& view);

}  // namespace softmetal
