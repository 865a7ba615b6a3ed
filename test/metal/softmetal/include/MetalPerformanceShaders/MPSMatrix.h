#pragma once

#import <Metal/Metal.h>

typedef NS_ENUM(uint32_t, MPSDataType) {
  MPSDataTypeInvalid = 0,
  MPSDataTypeFloatBit = 0x10000000,
  MPSDataTypeFloat32 = MPSDataTypeFloatBit | 32,
  MPSDataTypeFloat16 = MPSDataTypeFloatBit | 16,
  MPSDataTypeSignedBit = 0x20000000,
  MPSDataTypeInt32 = MPSDataTypeSignedBit | 32,
  MPSDataTypeUInt8 = 8,
  MPSDataTypeUInt32 = 32,
};

typedef NS_OPTIONS(NSUInteger, MPSKernelOptions) {
  MPSKernelOptionsNone = 0U,
  MPSKernelOptionsSkipAPIValidation = 1U << 0,
  MPSKernelOptionsAllowReducedPrecision = 1U << 1,
  MPSKernelOptionsDisableInternalTiling = 1U << 2,
  MPSKernelOptionsInsertDebugGroups = 1U << 3,
  MPSKernelOptionsVerbose = 1U << 4,
};

MTL_EXTERN BOOL MPSSupportsMTLDevice(id<MTLDevice> device);

@interface MPSMatrixDescriptor : NSObject {
 @private
  struct SoftMatrixDescriptor* state_;
}
@property(readwrite, nonatomic) NSUInteger rows;
@property(readwrite, nonatomic) NSUInteger columns;
@property(readonly, nonatomic) NSUInteger matrices;
@property(readwrite, nonatomic) MPSDataType dataType;
@property(readwrite, nonatomic) NSUInteger rowBytes;
@property(readonly, nonatomic) NSUInteger matrixBytes;
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                rowBytes:(NSUInteger)rowBytes
                                dataType:(MPSDataType)dataType;
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)rowBytes
                             matrixBytes:(NSUInteger)matrixBytes
                                dataType:(MPSDataType)dataType;
+ (size_t)rowBytesForColumns:(NSUInteger)columns dataType:(MPSDataType)dataType;
@end

@interface MPSVectorDescriptor : NSObject {
 @private
  struct SoftVectorDescriptor* state_;
}
@property(readwrite, nonatomic) NSUInteger length;
@property(readonly, nonatomic) NSUInteger vectors;
@property(readwrite, nonatomic) MPSDataType dataType;
@property(readonly, nonatomic) NSUInteger vectorBytes;
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length dataType:(MPSDataType)dataType;
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length
                                   vectors:(NSUInteger)vectors
                               vectorBytes:(NSUInteger)vectorBytes
                                  dataType:(MPSDataType)dataType;
+ (size_t)vectorBytesForLength:(NSUInteger)length dataType:(MPSDataType)dataType;
@end

@interface MPSMatrix : NSObject {
 @private
  struct SoftMatrix* state_;
}
@property(readonly, retain, nonatomic) id<MTLDevice> device;
@property(readonly, nonatomic) NSUInteger rows;
@property(readonly, nonatomic) NSUInteger columns;
@property(readonly, nonatomic) NSUInteger matrices;
@property(readonly, nonatomic) MPSDataType dataType;
@property(readonly, nonatomic) NSUInteger rowBytes;
@property(readonly, nonatomic) NSUInteger matrixBytes;
@property(readonly, nonatomic) NSUInteger offset;
@property(readonly, nonatomic) id<MTLBuffer> data;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSMatrixDescriptor*)descriptor;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSMatrixDescriptor*)descriptor;
@end

@interface MPSVector : NSObject {
 @private
  struct SoftVector* state_;
}
@property(readonly, retain, nonatomic) id<MTLDevice> device;
@property(readonly, nonatomic) NSUInteger length;
@property(readonly, nonatomic) NSUInteger vectors;
@property(readonly, nonatomic) MPSDataType dataType;
@property(readonly, nonatomic) NSUInteger vectorBytes;
@property(readonly, nonatomic) NSUInteger offset;
@property(readonly, nonatomic) id<MTLBuffer> data;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSVectorDescriptor*)descriptor;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSVectorDescriptor*)descriptor;
@end

@interface MPSKernel : NSObject {
 @protected
  struct SoftKernel* state_;
}
@property(readwrite, nonatomic) MPSKernelOptions options;
@property(readonly, retain, nonatomic) id<MTLDevice> device;
@property(copy, atomic) NSString* label;
- (instancetype)initWithDevice:(id<MTLDevice>)device;
@end

@interface MPSMatrixUnaryKernel : MPSKernel
@property(readwrite, nonatomic) MTLOrigin sourceMatrixOrigin;
@property(readwrite, nonatomic) MTLOrigin resultMatrixOrigin;
@property(readwrite, nonatomic) NSUInteger batchStart;
@property(readwrite, nonatomic) NSUInteger batchSize;
@end

@interface MPSMatrixBinaryKernel : MPSKernel
@property(readwrite, nonatomic) MTLOrigin primarySourceMatrixOrigin;
@property(readwrite, nonatomic) MTLOrigin secondarySourceMatrixOrigin;
@property(readwrite, nonatomic) MTLOrigin resultMatrixOrigin;
@property(readwrite, nonatomic) NSUInteger batchStart;
@property(readwrite, nonatomic) NSUInteger batchSize;
@end
