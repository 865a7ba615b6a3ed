// What the driver programs share: a device with everything to record a kernel, and a text to compile.
#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <vector>

// The declarations of our kernels; the CPU's kernels do the work.
NSString* kernelText();

// params.h's NormalParams: `count` normals from the first on.
std::vector<uint32_t> normalParams(uint32_t count);

struct Fixture {
  Fixture();
  ~Fixture();
  id<MTLComputePipelineState> newPipeline(NSString* name);
  id<MTLBuffer> newFloats(const std::vector<float>& values);
  // Autoreleased, with fill_normal's pipeline and arguments set.
  id<MTLComputeCommandEncoder> encoderOver(id<MTLCommandBuffer> buffer, id<MTLBuffer> out, uint32_t count);

  id<MTLDevice> device;
  id<MTLCommandQueue> queue;
  id<MTLLibrary> library;
  id<MTLComputePipelineState> fillNormal, addRow, squaredNorms;
};

MPSMatrixDescriptor* floatMatrix(NSUInteger rows, NSUInteger columns);
// Retained by the caller.
MPSMatrix* newMatrix(id<MTLBuffer> buffer, NSUInteger rows, NSUInteger columns);
MPSVector* newVector(id<MTLBuffer> buffer, NSUInteger length);
