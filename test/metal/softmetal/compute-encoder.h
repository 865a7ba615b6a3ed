#pragma once

#import <Metal/Metal.h>

#include "object.h"

@class SoftMetalCommandBuffer;

namespace softmetal {

// Autoreleased.
id<MTLComputeCommandEncoder> computeEncoderOf(SoftMetalCommandBuffer* buffer, MTLDispatchType type, const Call& call);

}  // namespace softmetal
