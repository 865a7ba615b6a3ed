#pragma once

#import <Metal/Metal.h>

#include "object.h"

@class SoftMetalCommandBuffer;

namespace softmetal {

// Autoreleased.
id<MTLBlitCommandEncoder> blitEncoderOf(SoftMetalCommandBuffer* buffer, const Call& call);

}  // namespace softmetal
