#pragma once

#import <Metal/Metal.h>

#include "execute.h"
#include "object.h"

struct SoftSampler : softmetal::Counted {
  SoftSampler() : Counted("MTLSamplerState") {}

  // In the form that a kernel takes.
  softmetal::Bound bound() const;

  softmetal::Ref<id<MTLDevice>> device;
  // msl/cpu/library/sampler.h has the same fields.
  struct Fields {
    uint32_t isPixel, addresses[3], mag, min, mip, compare, border, unused;
    float leastLod, mostLod;
  } fields;
};

@interface SoftMetalSampler : NSObject <MTLSamplerState> {
 @public
  SoftSampler* state_;
}
@end

namespace softmetal {

SoftSampler& samplerOf(id<MTLSamplerState> sampler, const Call& call);
id<MTLSamplerState> newSampler(id<MTLDevice> device, MTLSamplerDescriptor* descriptor, const Call& call);

}  // namespace softmetal
