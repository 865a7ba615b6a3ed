// Correct use of devices, buffers, queues, kernels and copies: prints what is wrong; ends with 0 if nothing is.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../exports.h"
#include "checks.h"
#include "fixture.h"

namespace {

void deviceAndBuffers() {
  NSArray<id<MTLDevice>>* all = MTLCopyAllDevices();
  check([all count] == 1, "one device");
  [all release];
  Fixture fixture;
  check([[fixture.device name] length] > 0 && [fixture.device hasUnifiedMemory], "its facts");
  check([fixture.device supportsFamily:MTLGPUFamilyApple7] && ![fixture.device supportsFamily:MTLGPUFamilyApple8],
        "the family is Apple7");
  id<MTLBuffer> buffer = [fixture.device newBufferWithLength:1000 options:MTLResourceStorageModeShared];
  check([buffer length] == 1000 && std::isnan(static_cast<float*>([buffer contents])[249]), "fresh memory is poisoned");
  check([fixture.device currentAllocatedSize] == 1000, "bytes are counted");
  check(softmetal_owns(static_cast<char*>([buffer contents]) + 999) == 1 && softmetal_owns(&fixture) == 0, "owns");
  [buffer release];
  check([fixture.device currentAllocatedSize] == 0, "and counted back");

  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = aligned_alloc(page, page);
  __block size_t freed = 0;
  id<MTLBuffer> borrowed = [fixture.device newBufferWithBytesNoCopy:memory
                                                             length:page
                                                            options:MTLResourceStorageModeShared
                                                        deallocator:^(void* pointer, NSUInteger length) {
                                                          free(pointer);
                                                          freed = length;
                                                        }];
  check([borrowed contents] == memory, "borrowed memory is where it was");
  [borrowed release];
  check(freed == page, "the deallocator is called");
}

void kernels() {
  Fixture fixture;
  check([[fixture.library functionNames] count] == 5, "five kernels in the text");
  check([fixture.library newFunctionWithName:@"unknown_to_the_text"] == nil, "a kernel that is not in the text");
  id<MTLBuffer> out = fixture.newFloats(std::vector<float>(100, 2.0f));
  id<MTLBuffer> norms = fixture.newFloats(std::vector<float>(10));
  float sums[10] = {};
  for (const NSUInteger group : {1, 31, 32, 33, 1024}) {
    @autoreleasepool {
      id<MTLCommandBuffer> buffer = [fixture.queue commandBuffer];
      id<MTLComputeCommandEncoder> encoder = fixture.encoderOver(buffer, out, 100);
      [encoder dispatchThreads:MTLSizeMake(25, 1, 1) threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
      [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
      [encoder setComputePipelineState:fixture.squaredNorms];
      [encoder setBuffer:out offset:0 atIndex:0];
      [encoder setBuffer:norms offset:0 atIndex:1];
      const uint32_t shape[] = {10, 10};
      [encoder setBytes:shape length:sizeof shape atIndex:2];
      [encoder setThreadgroupMemoryLength:128 atIndex:0];
      [encoder dispatchThreadgroups:MTLSizeMake(10, 1, 1) threadsPerThreadgroup:MTLSizeMake(group, 1, 1)];
      [encoder endEncoding];
      [buffer commit];
      [buffer waitUntilCompleted];
      check([buffer status] == MTLCommandBufferStatusCompleted && [buffer error] == nil, "it completes");
      check([buffer GPUStartTime] > 0 && [buffer GPUEndTime] >= [buffer GPUStartTime], "its times");
    }
    const float* z = static_cast<float*>([out contents]);
    for (int r = 0; r < 10; ++r) {
      sums[r] = 0;
      for (int j = 0; j < 10; ++j) sums[r] += z[10 * r + j] * z[10 * r + j];
      check(std::fabs(static_cast<float*>([norms contents])[r] - sums[r]) < 1e-4f, "squared norms of normals");
    }
  }
  [norms release];
  [out release];
}

void copies() {
  Fixture fixture;
  id<MTLBuffer> from = fixture.newFloats({1, 2, 3, 4}), to = fixture.newFloats({0, 0, 0, 0});
  @autoreleasepool {
    id<MTLCommandBuffer> buffer = [fixture.queue commandBuffer];
    id<MTLBlitCommandEncoder> blit = [buffer blitCommandEncoder];
    [blit copyFromBuffer:from sourceOffset:4 toBuffer:to destinationOffset:8 size:8];
    [blit fillBuffer:to range:NSMakeRange(0, 4) value:0];
    [blit endEncoding];
    [buffer commit];
    [buffer waitUntilCompleted];
  }
  const float expected[] = {0, 0, 2, 3};
  check(memcmp([to contents], expected, sizeof expected) == 0, "bytes are copied");
  [from release];
  [to release];
}

void reflection() {
  Fixture fixture;
  @autoreleasepool {
    MTLComputePipelineDescriptor* descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    id<MTLFunction> function = [fixture.library newFunctionWithName:@"squared_norms"];
    [descriptor setComputeFunction:function];
    [function release];
    [descriptor setLabel:@"norms"];
    MTLComputePipelineReflection* reflection = nil;
    NSError* error = nil;
    id<MTLComputePipelineState> pipeline =
        [fixture.device newComputePipelineStateWithDescriptor:descriptor
                                                      options:MTLPipelineOptionArgumentInfo
                                                   reflection:&reflection
                                                        error:&error];
    check([[reflection bindings] count] == 4, "four arguments");
    id<MTLBinding> params = [[reflection bindings] objectAtIndex:2], memory = [[reflection bindings] objectAtIndex:3];
    check([[params name] isEqual:@"params"] && [params index] == 2 && [params access] == MTLBindingAccessReadOnly &&
              [static_cast<id<MTLBufferBinding>>(params) bufferDataSize] == 8,
          "the params");
    check([[memory name] isEqual:@"partial"] && [memory type] == MTLBindingTypeThreadgroupMemory, "threadgroup memory");
    check([[pipeline label] isEqual:@"norms"] && [pipeline threadExecutionWidth] == 32, "the pipeline's own facts");
    [pipeline release];
    for (const auto& [name, why] : {std::pair<NSString*, NSString*>{@"zero_upper", @"buffer index 2"},
                                    {@"unknown_to_the_cpu", @"no kernel of that name"}}) {
      id<MTLFunction> bad = [fixture.library newFunctionWithName:name];
      check([fixture.device newComputePipelineStateWithFunction:bad error:&error] == nil &&
                [[error localizedDescription] rangeOfString:why].length > 0,
            "an index out of order, and a kernel that the CPU lacks, are found");
      [bad release];
    }
  }
}

}  // namespace

int main() {
  @autoreleasepool {
    deviceAndBuffers();
    kernels();
    copies();
    reflection();
  }
  checkNothingLives();
  return failures() == 0 ? 0 : 1;
}
