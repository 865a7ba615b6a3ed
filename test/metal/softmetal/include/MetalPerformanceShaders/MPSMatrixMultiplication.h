#pragma once

#import <MetalPerformanceShaders/MPSMatrix.h>

@interface MPSMatrixMultiplication : MPSKernel
@property(readwrite, nonatomic) MTLOrigin resultMatrixOrigin;
@property(readwrite, nonatomic) MTLOrigin leftMatrixOrigin;
@property(readwrite, nonatomic) MTLOrigin rightMatrixOrigin;
@property(readwrite, nonatomic) NSUInteger batchStart;
@property(readwrite, nonatomic) NSUInteger batchSize;
- (instancetype)initWithDevice:(id<MTLDevice>)device
                 transposeLeft:(BOOL)transposeLeft
                transposeRight:(BOOL)transposeRight
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns
                         alpha:(double)alpha
                          beta:(double)beta;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                   leftMatrix:(MPSMatrix*)leftMatrix
                  rightMatrix:(MPSMatrix*)rightMatrix
                 resultMatrix:(MPSMatrix*)resultMatrix;
@end

@interface MPSMatrixVectorMultiplication : MPSMatrixBinaryKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device
                     transpose:(BOOL)transpose
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns
                         alpha:(double)alpha
                          beta:(double)beta;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix*)inputMatrix
                  inputVector:(MPSVector*)inputVector
                 resultVector:(MPSVector*)resultVector;
@end
