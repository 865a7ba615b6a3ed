#include "sampler.h"

#include <cfloat>

#include "ledger.h"

using softmetal::Call;

struct SoftSamplerDescriptor : softmetal::Counted {
  SoftSamplerDescriptor() : Counted("MTLSamplerDescriptor") {}
  MTLSamplerMinMagFilter min = MTLSamplerMinMagFilterNearest, mag = MTLSamplerMinMagFilterNearest;
  MTLSamplerAddressMode s = MTLSamplerAddressModeClampToEdge, t = MTLSamplerAddressModeClampToEdge,
                        r = MTLSamplerAddressModeClampToEdge;
  MTLSamplerBorderColor border = MTLSamplerBorderColorTransparentBlack;
  MTLCompareFunction compare = MTLCompareFunctionNever;
  BOOL normalized = YES;
};

@implementation MTLSamplerDescriptor
SOFT_LIFETIME("MTLSamplerDescriptor")
- (instancetype)init {
  if ((self = [super init]) != nil) state_ = new SoftSamplerDescriptor;
  return self;
}
SOFT_SETTING("MTLSamplerDescriptor", MTLSamplerMinMagFilter, minFilter, setMinFilter, min)
SOFT_SETTING("MTLSamplerDescriptor", MTLSamplerMinMagFilter, magFilter, setMagFilter, mag)
SOFT_SETTING("MTLSamplerDescriptor", MTLSamplerAddressMode, sAddressMode, setSAddressMode, s)
SOFT_SETTING("MTLSamplerDescriptor", MTLSamplerAddressMode, tAddressMode, setTAddressMode, t)
SOFT_SETTING("MTLSamplerDescriptor", MTLSamplerAddressMode, rAddressMode, setRAddressMode, r)
SOFT_SETTING("MTLSamplerDescriptor", MTLSamplerBorderColor, borderColor, setBorderColor, border)
SOFT_SETTING("MTLSamplerDescriptor", BOOL, normalizedCoordinates, setNormalizedCoordinates, normalized)
SOFT_SETTING("MTLSamplerDescriptor", MTLCompareFunction, compareFunction, setCompareFunction, compare)
@end

softmetal::Bound SoftSampler::bound() const {
  return {reinterpret_cast<char*>(const_cast<Fields*>(&fields)), sizeof fields, true};
}

namespace softmetal {

SoftSampler& samplerOf(id<MTLSamplerState> sampler, const Call& call) {
  if (sampler == nil) call.refuse("is given a nil sampler.");
  SoftSampler* state = static_cast<SoftMetalSampler*>(sampler)->state_;
  if (state == nullptr) call.refuse("is given a sampler that has been released.");
  return *state;
}

id<MTLSamplerState> newSampler(id<MTLDevice> device, MTLSamplerDescriptor* descriptor, const Call& call) {
  if (descriptor == nil) call.refuse("is given a nil descriptor.");
  const bool isPixel = ![descriptor normalizedCoordinates];
  for (const MTLSamplerAddressMode each :
       {[descriptor sAddressMode], [descriptor tAddressMode], [descriptor rAddressMode]})
    if (isPixel && each != MTLSamplerAddressModeClampToEdge && each != MTLSamplerAddressModeClampToZero)
      call.refuse("is asked for address mode (%zu) with pixel coordinates.", size_t{each});
  SoftMetalSampler* sampler = [SoftMetalSampler alloc];
  auto* state = new SoftSampler;
  sampler->state_ = state;
  state->device = Ref<id<MTLDevice>>(device);
  const auto number = [](NSUInteger value) { return static_cast<uint32_t>(value); };
  state->fields = {
      isPixel ? 1u : 0u,
      {number([descriptor sAddressMode]), number([descriptor tAddressMode]), number([descriptor rAddressMode])},
      number([descriptor magFilter]),
      number([descriptor minFilter]),
      0,
      number([descriptor compareFunction]),
      number([descriptor borderColor]),
      0,
      0,
      FLT_MAX};
  count("samplers");
  return sampler;
}

}  // namespace softmetal

@implementation SoftMetalSampler
SOFT_LIFETIME("MTLSamplerState")
- (NSString*)label {
  used(state_, Call{"MTLSamplerState", _cmd});
  return nil;
}
- (id<MTLDevice>)device {
  return used(state_, Call{"MTLSamplerState", _cmd}).device.get();
}
@end
