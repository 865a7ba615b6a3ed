#pragma once

#import <MetalPerformanceShaders/MPSMatrix.h>

typedef NS_ENUM(int, MPSMatrixDecompositionStatus) {
  MPSMatrixDecompositionStatusSuccess = 0,
  MPSMatrixDecompositionStatusFailure = -1,
  MPSMatrixDecompositionStatusSingular = -2,
  MPSMatrixDecompositionStatusNonPositiveDefinite = -3,
};

@interface MPSMatrixDecompositionCholesky : MPSMatrixUnaryKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device lower:(BOOL)lower order:(NSUInteger)order;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                 sourceMatrix:(MPSMatrix*)sourceMatrix
                 resultMatrix:(MPSMatrix*)resultMatrix
                       status:(id<MTLBuffer>)status;
@end
