#include "fixture.h"

#include <cstdlib>

NSString* kernelText() {
  return @"// softmetal: kernels of msl/\n"
         @"#include <metal_stdlib>\n"
         @"using namespace metal;\n"
         @"// kernel void not_this(device float* out [[buffer(0)]])\n"
         @"kernel void fill_normal(device float* out [[buffer(0)]], constant NormalParams& params [[buffer(1)]],\n"
         @"                        uint i [[thread_position_in_grid]]) {}\n"
         @"kernel void add_row(device float* rows [[buffer(0)]], device const float* row [[buffer(1)]],\n"
         @"                    constant RowParams& params [[buffer(2)]], uint2 position [[thread_position_in_grid]]) "
         @"{}\n"
         @"kernel void squared_norms(device const float* rows [[buffer(0)]], device float* out [[buffer(1)]],\n"
         @"                          constant MatrixParams& params [[buffer(2)]],\n"
         @"                          threadgroup float* partial THREADGROUP_MEMORY(0),\n"
         @"                          uint row [[threadgroup_position_in_grid]],\n"
         @"                          uint lane [[thread_position_in_threadgroup]],\n"
         @"                          uint lanes [[threads_per_threadgroup]]) {}\n"
         @"kernel void zero_upper(device float* a [[buffer(0)]], constant MatrixParams& params [[buffer(2)]],\n"
         @"                       uint2 position [[thread_position_in_grid]]) {}\n"
         @"kernel void unknown_to_the_cpu(device float* a [[buffer(0)]]) {}\n";
}

std::vector<uint32_t> normalParams(uint32_t count) { return {7, 0, 3, 0, 0, 0, count}; }

Fixture::Fixture() {
  device = MTLCreateSystemDefaultDevice();
  queue = [device newCommandQueue];
  NSError* error = nil;
  library = [device newLibraryWithSource:kernelText() options:nil error:&error];
  fillNormal = newPipeline(@"fill_normal");
  addRow = newPipeline(@"add_row");
  squaredNorms = newPipeline(@"squared_norms");
}

Fixture::~Fixture() {
  [squaredNorms release];
  [addRow release];
  [fillNormal release];
  [library release];
  [queue release];
  [device release];
}

id<MTLComputePipelineState> Fixture::newPipeline(NSString* name) {
  id<MTLFunction> function = [library newFunctionWithName:name];
  NSError* error = nil;
  id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
  [function release];
  return pipeline;
}

id<MTLBuffer> Fixture::newFloats(const std::vector<float>& values) {
  return [device newBufferWithBytes:values.data()
                             length:values.size() * sizeof(float)
                            options:MTLResourceStorageModeShared];
}

id<MTLComputeCommandEncoder> Fixture::encoderOver(id<MTLCommandBuffer> buffer, id<MTLBuffer> out, uint32_t count) {
  id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
  [encoder setComputePipelineState:fillNormal];
  [encoder setBuffer:out offset:0 atIndex:0];
  const std::vector<uint32_t> params = normalParams(count);
  [encoder setBytes:params.data() length:params.size() * 4 atIndex:1];
  return encoder;
}

MPSMatrixDescriptor* floatMatrix(NSUInteger rows, NSUInteger columns) {
  return [MPSMatrixDescriptor matrixDescriptorWithRows:rows
                                               columns:columns
                                              rowBytes:columns * sizeof(float)
                                              dataType:MPSDataTypeFloat32];
}

MPSMatrix* newMatrix(id<MTLBuffer> buffer, NSUInteger rows, NSUInteger columns) {
  return [[MPSMatrix alloc] initWithBuffer:buffer descriptor:floatMatrix(rows, columns)];
}

MPSVector* newVector(id<MTLBuffer> buffer, NSUInteger length) {
  return [[MPSVector alloc]
      initWithBuffer:buffer
          descriptor:[MPSVectorDescriptor vectorDescriptorWithLength:length dataType:MPSDataTypeFloat32]];
}
