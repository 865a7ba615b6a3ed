#pragma once

#import <MetalPerformanceShaders/MPSMatrix.h>

typedef struct {
  uint32_t sourceRowOffset;
  uint32_t sourceColumnOffset;
  uint32_t destinationRowOffset;
  uint32_t destinationColumnOffset;
} MPSMatrixCopyOffsets;

@interface MPSMatrixCopyDescriptor : NSObject {
 @private
  struct SoftCopyDescriptor* state_;
}
+ (instancetype)descriptorWithSourceMatrix:(MPSMatrix*)sourceMatrix
                         destinationMatrix:(MPSMatrix*)destinationMatrix
                                   offsets:(MPSMatrixCopyOffsets)offsets;
- (instancetype)initWithDevice:(id<MTLDevice>)device count:(NSUInteger)count;
- (void)setCopyOperationAtIndex:(NSUInteger)index
                   sourceMatrix:(MPSMatrix*)sourceMatrix
              destinationMatrix:(MPSMatrix*)destinationMatrix
                        offsets:(MPSMatrixCopyOffsets)offsets;
@end

@interface MPSMatrixCopy : MPSKernel
@property(nonatomic, readonly) NSUInteger copyRows;
@property(nonatomic, readonly) NSUInteger copyColumns;
@property(nonatomic, readonly) BOOL sourcesAreTransposed;
@property(nonatomic, readonly) BOOL destinationsAreTransposed;
- (instancetype)initWithDevice:(id<MTLDevice>)device
                      copyRows:(NSUInteger)copyRows
                   copyColumns:(NSUInteger)copyColumns
          sourcesAreTransposed:(BOOL)sourcesAreTransposed
     destinationsAreTransposed:(BOOL)destinationsAreTransposed;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
               copyDescriptor:(MPSMatrixCopyDescriptor*)copyDescriptor;
@end

@interface MPSMatrixSum : MPSKernel
@property(nonatomic, readonly) NSUInteger rows;
@property(nonatomic, readonly) NSUInteger columns;
@property(nonatomic, readonly) NSUInteger count;
@property(nonatomic, readonly) BOOL transpose;
@property(readwrite, nonatomic) MTLOrigin resultMatrixOrigin;
- (instancetype)initWithDevice:(id<MTLDevice>)device
                         count:(NSUInteger)count
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns
                     transpose:(BOOL)transpose;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)buffer
               sourceMatrices:(NSArray<MPSMatrix*>*)sourceMatrices
                 resultMatrix:(MPSMatrix*)resultMatrix
                  scaleVector:(MPSVector*)scaleVector
                 offsetVector:(MPSVector*)offsetVector
                   biasVector:(MPSVector*)biasVector
                   startIndex:(NSUInteger)startIndex;
@end
