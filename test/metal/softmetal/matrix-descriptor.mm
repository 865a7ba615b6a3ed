#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include "object.h"

using softmetal::Call;

struct SoftMatrixDescriptor : softmetal::Counted {
  SoftMatrixDescriptor() : Counted("MPSMatrixDescriptor") {}
  NSUInteger rows = 0, columns = 0, matrices = 1, rowBytes = 0, matrixBytes = 0;
  MPSDataType dataType = MPSDataTypeInvalid;
};

struct SoftVectorDescriptor : softmetal::Counted {
  SoftVectorDescriptor() : Counted("MPSVectorDescriptor") {}
  NSUInteger length = 0, vectors = 1, vectorBytes = 0;
  MPSDataType dataType = MPSDataTypeInvalid;
};

namespace {

// The recommended stride: rows that begin at multiples of 16 bytes.
size_t paddedBytes(NSUInteger count, MPSDataType dataType) { return (count * (dataType & 0xffff) / 8 + 15) / 16 * 16; }

}  // namespace

@implementation MPSMatrixDescriptor
SOFT_LIFETIME("MPSMatrixDescriptor")
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                rowBytes:(NSUInteger)rowBytes
                                dataType:(MPSDataType)dataType {
  return [self matrixDescriptorWithRows:rows
                                columns:columns
                               matrices:1
                               rowBytes:rowBytes
                            matrixBytes:rows * rowBytes
                               dataType:dataType];
}
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)rowBytes
                             matrixBytes:(NSUInteger)matrixBytes
                                dataType:(MPSDataType)dataType {
  MPSMatrixDescriptor* descriptor = [[self alloc] init];
  descriptor->state_ = new SoftMatrixDescriptor;
  descriptor->state_->rows = rows;
  descriptor->state_->columns = columns;
  descriptor->state_->matrices = matrices;
  descriptor->state_->rowBytes = rowBytes;
  descriptor->state_->matrixBytes = matrixBytes;
  descriptor->state_->dataType = dataType;
  return [descriptor autorelease];
}
+ (size_t)rowBytesForColumns:(NSUInteger)columns dataType:(MPSDataType)dataType {
  return paddedBytes(columns, dataType);
}
- (NSUInteger)rows {
  return used(state_, Call{"MPSMatrixDescriptor", _cmd}).rows;
}
- (void)setRows:(NSUInteger)rows {
  SoftMatrixDescriptor& descriptor = used(state_, Call{"MPSMatrixDescriptor", _cmd});
  descriptor.rows = rows;
  if (descriptor.matrices == 1) descriptor.matrixBytes = rows * descriptor.rowBytes;
}
- (NSUInteger)columns {
  return used(state_, Call{"MPSMatrixDescriptor", _cmd}).columns;
}
- (void)setColumns:(NSUInteger)columns {
  used(state_, Call{"MPSMatrixDescriptor", _cmd}).columns = columns;
}
- (NSUInteger)matrices {
  return used(state_, Call{"MPSMatrixDescriptor", _cmd}).matrices;
}
- (MPSDataType)dataType {
  return used(state_, Call{"MPSMatrixDescriptor", _cmd}).dataType;
}
- (void)setDataType:(MPSDataType)dataType {
  used(state_, Call{"MPSMatrixDescriptor", _cmd}).dataType = dataType;
}
- (NSUInteger)rowBytes {
  return used(state_, Call{"MPSMatrixDescriptor", _cmd}).rowBytes;
}
- (void)setRowBytes:(NSUInteger)rowBytes {
  SoftMatrixDescriptor& descriptor = used(state_, Call{"MPSMatrixDescriptor", _cmd});
  descriptor.rowBytes = rowBytes;
  if (descriptor.matrices == 1) descriptor.matrixBytes = descriptor.rows * rowBytes;
}
- (NSUInteger)matrixBytes {
  return used(state_, Call{"MPSMatrixDescriptor", _cmd}).matrixBytes;
}
@end

@implementation MPSVectorDescriptor
SOFT_LIFETIME("MPSVectorDescriptor")
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length dataType:(MPSDataType)dataType {
  return
      [self vectorDescriptorWithLength:length vectors:1 vectorBytes:length * (dataType & 0xffff) / 8 dataType:dataType];
}
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length
                                   vectors:(NSUInteger)vectors
                               vectorBytes:(NSUInteger)vectorBytes
                                  dataType:(MPSDataType)dataType {
  MPSVectorDescriptor* descriptor = [[self alloc] init];
  descriptor->state_ = new SoftVectorDescriptor;
  descriptor->state_->length = length;
  descriptor->state_->vectors = vectors;
  descriptor->state_->vectorBytes = vectorBytes;
  descriptor->state_->dataType = dataType;
  return [descriptor autorelease];
}
+ (size_t)vectorBytesForLength:(NSUInteger)length dataType:(MPSDataType)dataType {
  return paddedBytes(length, dataType);
}
- (NSUInteger)length {
  return used(state_, Call{"MPSVectorDescriptor", _cmd}).length;
}
- (void)setLength:(NSUInteger)length {
  used(state_, Call{"MPSVectorDescriptor", _cmd}).length = length;
}
- (NSUInteger)vectors {
  return used(state_, Call{"MPSVectorDescriptor", _cmd}).vectors;
}
- (MPSDataType)dataType {
  return used(state_, Call{"MPSVectorDescriptor", _cmd}).dataType;
}
- (void)setDataType:(MPSDataType)dataType {
  used(state_, Call{"MPSVectorDescriptor", _cmd}).dataType = dataType;
}
- (NSUInteger)vectorBytes {
  return used(state_, Call{"MPSVectorDescriptor", _cmd}).vectorBytes;
}
@end
