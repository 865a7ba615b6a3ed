#pragma once

#import <MetalPerformanceShaders/MPSMatrix.h>

@interface MPSMatrixSolveTriangular : MPSMatrixBinaryKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device
                         right:(BOOL)right
                         upper:(BOOL)upper
                     transpose:(BOOL)transpose
                          unit:(BOOL)unit
                         order:(NSUInteger)order
        numberOfRightHandSides:(NSUInteger)numberOfRightHandSides
                         alpha:(double)alpha;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                 sourceMatrix:(MPSMatrix*)sourceMatrix
          rightHandSideMatrix:(MPSMatrix*)rightHandSideMatrix
               solutionMatrix:(MPSMatrix*)solutionMatrix;
@end

@interface MPSMatrixSolveCholesky : MPSMatrixBinaryKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device
                         upper:(BOOL)upper
                         order:(NSUInteger)order
        numberOfRightHandSides:(NSUInteger)numberOfRightHandSides;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                 sourceMatrix:(MPSMatrix*)sourceMatrix
          rightHandSideMatrix:(MPSMatrix*)rightHandSideMatrix
               solutionMatrix:(MPSMatrix*)solutionMatrix;
@end
