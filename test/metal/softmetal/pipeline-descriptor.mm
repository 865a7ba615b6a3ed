#import <Metal/Metal.h>

#include "object.h"

using softmetal::Call;

struct SoftPipelineDescriptor : softmetal::Counted {
  SoftPipelineDescriptor() : Counted("MTLComputePipelineDescriptor") {}
  softmetal::Ref<NSString*> label;
  softmetal::Ref<id<MTLFunction>> function;
  BOOL multiple = NO;
  NSUInteger maximumGroup = 0;
};

@implementation MTLComputePipelineDescriptor
SOFT_LIFETIME("MTLComputePipelineDescriptor")
SOFT_LABEL("MTLComputePipelineDescriptor")
- (instancetype)init {
  if ((self = [super init]) != nil) state_ = new SoftPipelineDescriptor;
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  const SoftPipelineDescriptor& from = used(state_, Call{"MTLComputePipelineDescriptor", _cmd});
  MTLComputePipelineDescriptor* copy = [[MTLComputePipelineDescriptor allocWithZone:zone] init];
  copy->state_->label = from.label;
  copy->state_->function = from.function;
  copy->state_->multiple = from.multiple;
  copy->state_->maximumGroup = from.maximumGroup;
  return copy;
}
- (void)reset {
  SoftPipelineDescriptor& descriptor = used(state_, Call{"MTLComputePipelineDescriptor", _cmd});
  descriptor.label = softmetal::Ref<NSString*>();
  descriptor.function = softmetal::Ref<id<MTLFunction>>();
  descriptor.multiple = NO;
  descriptor.maximumGroup = 0;
}
- (id<MTLFunction>)computeFunction {
  return used(state_, Call{"MTLComputePipelineDescriptor", _cmd}).function.get();
}
- (void)setComputeFunction:(id<MTLFunction>)function {
  used(state_, Call{"MTLComputePipelineDescriptor", _cmd}).function = softmetal::Ref<id<MTLFunction>>(function);
}
- (BOOL)threadGroupSizeIsMultipleOfThreadExecutionWidth {
  return used(state_, Call{"MTLComputePipelineDescriptor", _cmd}).multiple;
}
- (void)setThreadGroupSizeIsMultipleOfThreadExecutionWidth:(BOOL)multiple {
  used(state_, Call{"MTLComputePipelineDescriptor", _cmd}).multiple = multiple;
}
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return used(state_, Call{"MTLComputePipelineDescriptor", _cmd}).maximumGroup;
}
- (void)setMaxTotalThreadsPerThreadgroup:(NSUInteger)threads {
  used(state_, Call{"MTLComputePipelineDescriptor", _cmd}).maximumGroup = threads;
}
@end
