// The part of Apple's MetalPerformanceShaders that objc/metal uses: matrices and the kernels over them.
#pragma once

#import <MetalPerformanceShaders/MPSMatrix.h>
#import <MetalPerformanceShaders/MPSMatrixCombination.h>
#import <MetalPerformanceShaders/MPSMatrixDecomposition.h>
#import <MetalPerformanceShaders/MPSMatrixMultiplication.h>
