#include "matrix.h"

#include <limits>

using softmetal::Call;

namespace {

size_t elementBytes(MPSDataType type) { return (type & 0xffff) / 8; }

bool isKnown(MPSDataType type) {
  for (const MPSDataType each :
       {MPSDataTypeFloat32, MPSDataTypeFloat16, MPSDataTypeInt32, MPSDataTypeUInt8, MPSDataTypeUInt32})
    if (type == each) return true;
  return false;
}

}  // namespace

SoftExtent::SoftExtent(const char* className, id<MTLBuffer> buffer, size_t offset, const Call& call)
    : Counted(className),
      data(buffer),
      bytes(softmetal::bufferOf(buffer, call).bytes + offset),
      offset(offset),
      bufferLength(softmetal::bufferOf(buffer, call).length) {}

void SoftExtent::check(const Call& call) const {
  if (!isKnown(dataType)) call.refuse("is given data type (0x%x).", static_cast<unsigned>(dataType));
  const size_t element = elementBytes(dataType);
  if (rows == 0 || columns == 0 || matrices == 0)
    call.refuse("is given (%zu) matrices of (%zu x %zu).", size_t{matrices}, size_t{rows}, size_t{columns});
  if (rowBytes % element != 0 || rowBytes < columns * element)
    call.refuse("is given rowBytes (%zu) for (%zu) columns of (%zu) bytes.", rowBytes, size_t{columns}, element);
  if (matrixBytes % rowBytes != 0 || matrixBytes < rows * rowBytes)
    call.refuse("is given matrixBytes (%zu) for (%zu) rows of (%zu) bytes.", matrixBytes, size_t{rows}, rowBytes);
  if (offset % element != 0) call.refuse("is given offset (%zu), not a multiple of (%zu).", offset, element);
  const size_t end = offset + (matrices - 1) * matrixBytes + (rows - 1) * rowBytes + columns * element;
  if (end > bufferLength) call.refuse("needs (%zu) bytes of a buffer of (%zu).", end, bufferLength);
}

namespace softmetal {

const SoftExtent& extentOf(MPSMatrix* matrix, const char* which, const Call& call) {
  if (matrix == nil) call.refuse("is given a nil %s.", which);
  return used([matrix soft], call);
}

const SoftExtent& extentOf(MPSVector* vector, const char* which, const Call& call) {
  if (vector == nil) call.refuse("is given a nil %s.", which);
  return used([vector soft], call);
}

View viewOf(const SoftExtent& extent, const char* which, MTLOrigin origin, size_t index, size_t rows, size_t columns,
            const Call& call) {
  if (extent.dataType != MPSDataTypeFloat32)
    call.refuse("is given %s of data type (0x%x), not float32.", which, static_cast<unsigned>(extent.dataType));
  if (origin.z != 0) call.refuse("has an origin of %s with z (%zu).", which, size_t{origin.z});
  if (origin.x + rows > extent.rows || origin.y + columns > extent.columns || index >= extent.matrices)
    call.refuse("takes (%zu x %zu) from (%zu, %zu) of matrix (%zu) of %s, which has (%zu) of (%zu x %zu).", rows,
                columns, size_t{origin.x}, size_t{origin.y}, index, which, size_t{extent.matrices}, size_t{extent.rows},
                size_t{extent.columns});
  char* bytes = extent.bytes + index * extent.matrixBytes + origin.x * extent.rowBytes + origin.y * sizeof(float);
  return {bytes, rows, columns, extent.rowBytes};
}

void fillWithNaN(const View& view) {
  for (size_t row = 0; row < view.rows; ++row)
    for (size_t column = 0; column < view.columns; ++column)
      view.at(row, column) = std::numeric_limits<float>::quiet_NaN();
}

}  // namespace softmetal

@implementation MPSMatrix
SOFT_LIFETIME("MPSMatrix")
- (SoftMatrix*)soft {
  return state_;
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSMatrixDescriptor*)descriptor {
  return [self initWithBuffer:buffer offset:0 descriptor:descriptor];
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSMatrixDescriptor*)descriptor {
  const Call call{"MPSMatrix", _cmd};
  if (descriptor == nil) call.refuse("is given a nil descriptor.");
  if ((self = [super init]) == nil) return nil;
  state_ = new SoftMatrix("MPSMatrix", buffer, offset, call);
  state_->rows = [descriptor rows];
  state_->columns = [descriptor columns];
  state_->matrices = [descriptor matrices];
  state_->rowBytes = [descriptor rowBytes];
  state_->matrixBytes = [descriptor matrixBytes];
  state_->dataType = [descriptor dataType];
  state_->check(call);
  return self;
}
- (id<MTLDevice>)device {
  return [used(state_, Call{"MPSMatrix", _cmd}).data.get() device];
}
- (NSUInteger)rows {
  return used(state_, Call{"MPSMatrix", _cmd}).rows;
}
- (NSUInteger)columns {
  return used(state_, Call{"MPSMatrix", _cmd}).columns;
}
- (NSUInteger)matrices {
  return used(state_, Call{"MPSMatrix", _cmd}).matrices;
}
- (MPSDataType)dataType {
  return used(state_, Call{"MPSMatrix", _cmd}).dataType;
}
- (NSUInteger)rowBytes {
  return used(state_, Call{"MPSMatrix", _cmd}).rowBytes;
}
- (NSUInteger)matrixBytes {
  return used(state_, Call{"MPSMatrix", _cmd}).matrixBytes;
}
- (NSUInteger)offset {
  return used(state_, Call{"MPSMatrix", _cmd}).offset;
}
- (id<MTLBuffer>)data {
  return used(state_, Call{"MPSMatrix", _cmd}).data.get();
}
@end

@implementation MPSVector
SOFT_LIFETIME("MPSVector")
- (SoftVector*)soft {
  return state_;
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSVectorDescriptor*)descriptor {
  return [self initWithBuffer:buffer offset:0 descriptor:descriptor];
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSVectorDescriptor*)descriptor {
  const Call call{"MPSVector", _cmd};
  if (descriptor == nil) call.refuse("is given a nil descriptor.");
  if ((self = [super init]) == nil) return nil;
  state_ = new SoftVector("MPSVector", buffer, offset, call);
  state_->columns = [descriptor length];
  state_->matrices = [descriptor vectors];
  state_->rowBytes = state_->matrixBytes = [descriptor vectorBytes];
  state_->dataType = [descriptor dataType];
  state_->check(call);
  return self;
}
- (id<MTLDevice>)device {
  return [used(state_, Call{"MPSVector", _cmd}).data.get() device];
}
- (NSUInteger)length {
  return used(state_, Call{"MPSVector", _cmd}).columns;
}
- (NSUInteger)vectors {
  return used(state_, Call{"MPSVector", _cmd}).matrices;
}
- (MPSDataType)dataType {
  return used(state_, Call{"MPSVector", _cmd}).dataType;
}
- (NSUInteger)vectorBytes {
  return used(state_, Call{"MPSVector", _cmd}).matrixBytes;
}
- (NSUInteger)offset {
  return used(state_, Call{"MPSVector", _cmd}).offset;
}
- (id<MTLBuffer>)data {
  return used(state_, Call{"MPSVector", _cmd}).data.get();
}
@end
