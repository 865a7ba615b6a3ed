#include "device.h"

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <cstring>
#include <mutex>

#include "../../../objc/cpu/memory.h"
#include "buffer.h"
#include "ledger.h"
#include "library.h"
#include "pipeline.h"
#include "queue.h"
#include "sampler.h"
#include "settings.h"
#include "texture.h"

using softmetal::Call;

namespace {

id<MTLDevice> newDevice(unsigned index) {
  SoftMetalDevice* device = [SoftMetalDevice alloc];
  device->state_ = new SoftDevice(index, 0x100000350 + index + 16 * softmetal::changes());
  return device;
}

// The first message to a class initializes it. With GNUstep's runtime, two threads that send it at the same time
// crash the process, as workers that opened devices together did. So one thread sends it while the others wait.
void makeClassesReady() {
  static std::once_flag once;
  std::call_once(once, [] {
    NSMutableArray* array = [[NSMutableArray alloc] init];
    [array addObject:[[[NSObject alloc] init] autorelease]];
    [array release];
  });
}

bool isThere() { return !softmetal::isOn("noDevice") && !softmetal::isOn("deviceRemoved"); }

size_t orShare(const char* name, size_t quarters) {
  const int64_t set = softmetal::number(name);
  if (set < 0) return 0;
  return set != 0 ? static_cast<size_t>(set) : covarium::cpu::usableMemoryBytes() / 4 * quarters;
}

}  // namespace

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  makeClassesReady();
  return isThere() ? newDevice(0) : nil;
}

NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  makeClassesReady();
  NSMutableArray* all = [[NSMutableArray alloc] init];
  for (unsigned index = 0; isThere() && index < (softmetal::isOn("secondDevice") ? 2 : 1); ++index) {
    id<MTLDevice> device = newDevice(index);
    [all addObject:device];
    [device release];
  }
  return all;
}

BOOL MPSSupportsMTLDevice(id<MTLDevice> device) { return device != nil && !softmetal::isOn("mpsUnsupported"); }

namespace softmetal {

SoftDevice& deviceOf(id<MTLDevice> device, const Call& call) {
  if (device == nil) call.refuse("is given a nil device.");
  SoftDevice* state = static_cast<SoftMetalDevice*>(device)->state_;
  if (state == nullptr) call.refuse("is given a device that has been released.");
  return *state;
}

void checkSameDevice(id<MTLDevice> device, id<MTLDevice> other, const char* what, const Call& call) {
  const SoftDevice &own = deviceOf(device, call), &its = deviceOf(other, call);
  if (own.index != its.index)
    call.refuse("is given a %s of device (%u), but belongs to device (%u).", what, its.index, own.index);
}

}  // namespace softmetal

@implementation SoftMetalDevice
SOFT_LIFETIME("MTLDevice")

- (NSString*)name {
  return used(state_, Call{"MTLDevice", _cmd}).index == 0 ? @"Software Metal" : @"Software Metal, second";
}
- (uint64_t)registryID {
  return used(state_, Call{"MTLDevice", _cmd}).registryID;
}
- (MTLSize)maxThreadsPerThreadgroup {
  used(state_, Call{"MTLDevice", _cmd});
  const NSUInteger most = static_cast<NSUInteger>(softmetal::number("maximumGroup"));
  return MTLSizeMake(most, most, most);
}
- (BOOL)isLowPower {
  used(state_, Call{"MTLDevice", _cmd});
  return softmetal::isOn("lowPower");
}
- (BOOL)isHeadless {
  used(state_, Call{"MTLDevice", _cmd});
  return NO;
}
- (BOOL)isRemovable {
  return used(state_, Call{"MTLDevice", _cmd}).index != 0;
}
- (BOOL)hasUnifiedMemory {
  used(state_, Call{"MTLDevice", _cmd});
  return softmetal::isOn("unifiedMemory");
}
- (uint64_t)recommendedMaxWorkingSetSize {
  used(state_, Call{"MTLDevice", _cmd});
  return orShare("recommendedMaxWorkingSetSize", 3);
}
- (NSUInteger)maxBufferLength {
  used(state_, Call{"MTLDevice", _cmd});
  return orShare("maxBufferLength", 2);
}
- (NSUInteger)currentAllocatedSize {
  return softmetal::allocatedBytes(used(state_, Call{"MTLDevice", _cmd}).index);
}
- (NSUInteger)maxThreadgroupMemoryLength {
  used(state_, Call{"MTLDevice", _cmd});
  return softmetal::maximumThreadgroupBytes;
}
- (BOOL)supportsFamily:(MTLGPUFamily)gpuFamily {
  used(state_, Call{"MTLDevice", _cmd});
  if (gpuFamily < MTLGPUFamilyMac1) return gpuFamily <= softmetal::number("family");
  return gpuFamily != MTLGPUFamilyMac1;
}

- (id<MTLCommandQueue>)newCommandQueue {
  return [self newCommandQueueWithMaxCommandBufferCount:softmetal::defaultCommandBufferCount];
}
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)maxCommandBufferCount {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  if (maxCommandBufferCount == 0) call.refuse("is asked for a queue of (0) command buffers.");
  if (softmetal::isOn("queueFails") || softmetal::isOn("deviceRemoved")) return nil;
  return softmetal::newQueue(self, maxCommandBufferCount);
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  return softmetal::newBuffer(self, length, options, call);
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)pointer length:(NSUInteger)length options:(MTLResourceOptions)options {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  if (pointer == nullptr) call.refuse("is given no bytes.");
  id<MTLBuffer> buffer = softmetal::newBuffer(self, length, options, call);
  if (buffer != nil) memcpy([buffer contents], pointer, length);
  return buffer;
}
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void*, NSUInteger))deallocator {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  return softmetal::newBorrowedBuffer(self, pointer, length, options, deallocator, call);
}

- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  return softmetal::newTexture(self, descriptor, call);
}
- (id<MTLSamplerState>)newSamplerStateWithDescriptor:(MTLSamplerDescriptor*)descriptor {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  return softmetal::newSampler(self, descriptor, call);
}

- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(__autoreleasing NSError**)error {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  return softmetal::newLibrary(self, data, error, call);
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(__autoreleasing NSError**)error {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  return softmetal::newLibrary(self, source, options, error, call);
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                                             error:(__autoreleasing NSError**)error {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  return softmetal::newPipeline(self, {computeFunction, nil, 0}, nullptr, error, call);
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                                           options:(MTLPipelineOption)options
                                                        reflection:(MTLAutoreleasedComputePipelineReflection*)reflection
                                                             error:(__autoreleasing NSError**)error {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  const bool reflects = (options & MTLPipelineOptionArgumentInfo) != 0;
  return softmetal::newPipeline(self, {computeFunction, nil, 0}, reflects ? reflection : nullptr, error, call);
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                                             options:(MTLPipelineOption)options
                                                          reflection:
                                                              (MTLAutoreleasedComputePipelineReflection*)reflection
                                                               error:(__autoreleasing NSError**)error {
  const Call call{"MTLDevice", _cmd};
  used(state_, call);
  if (descriptor == nil) call.refuse("is given a nil descriptor.");
  const bool reflects = (options & MTLPipelineOptionArgumentInfo) != 0;
  return softmetal::newPipeline(
      self, {[descriptor computeFunction], [descriptor label], [descriptor maxTotalThreadsPerThreadgroup]},
      reflects ? reflection : nullptr, error, call);
}
@end
