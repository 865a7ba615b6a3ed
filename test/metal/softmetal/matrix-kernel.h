// MPSKernel and what its subclasses share.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "command-buffer.h"
#include "matrix.h"

struct SoftKernel : softmetal::Counted {
  using Counted::Counted;
  softmetal::Ref<id<MTLDevice>> device;
  softmetal::Ref<NSString*> label;
  MPSKernelOptions options = MPSKernelOptionsNone;
  MTLOrigin firstOrigin = {0, 0, 0}, secondOrigin = {0, 0, 0}, resultOrigin = {0, 0, 0};
  NSUInteger batchStart = 0, batchSize = NSUIntegerMax;
};

namespace softmetal {

// True if a kernel may be made; counts it by its class and `shape`. False if MPS does not support the device.
bool prepare(SoftKernel& kernel, id<MTLDevice> device, const std::string& shape, const Call& call);

// Records `command`, which writes the results, with everything that it touches.
void record(SoftKernel& kernel, id<MTLCommandBuffer> commandBuffer, std::vector<const SoftExtent*> operands,
            std::vector<View> results, std::function<void()> command, const Call& call);

// Indices [first, last) of the batch that all operands have.
std::pair<size_t, size_t> batchOf(const SoftKernel& kernel, const std::vector<const SoftExtent*>& operands,
                                  const Call& call);

// Refuses a result that shares bytes with a source, unless it is the same matrix and that is allowed.
void checkApart(const View& result, const View& source, bool mayBeSame, const Call& call);

}  // namespace softmetal

// The end of an initializer: takes the state, or returns nil.
#define SOFT_KERNEL_INIT(STATE, DEVICE, SHAPE)                       \
  if ((self = [super init]) == nil) return nil;                      \
  state_ = STATE;                                                    \
  if (softmetal::prepare(*state_, DEVICE, SHAPE, call)) return self; \
  [self release];                                                    \
  return nil
