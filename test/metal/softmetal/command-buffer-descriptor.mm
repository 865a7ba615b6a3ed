#import <Metal/Metal.h>

#include "object.h"

using softmetal::Call;

struct SoftCommandBufferDescriptor : softmetal::Counted {
  SoftCommandBufferDescriptor() : Counted("MTLCommandBufferDescriptor") {}
  BOOL retainedReferences = YES;
  MTLCommandBufferErrorOption errorOptions = MTLCommandBufferErrorOptionNone;
};

@implementation MTLCommandBufferDescriptor
SOFT_LIFETIME("MTLCommandBufferDescriptor")
- (instancetype)init {
  if ((self = [super init]) != nil) state_ = new SoftCommandBufferDescriptor;
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  const SoftCommandBufferDescriptor& from = used(state_, Call{"MTLCommandBufferDescriptor", _cmd});
  MTLCommandBufferDescriptor* copy = [[MTLCommandBufferDescriptor allocWithZone:zone] init];
  copy->state_->retainedReferences = from.retainedReferences;
  copy->state_->errorOptions = from.errorOptions;
  return copy;
}
- (BOOL)retainedReferences {
  return used(state_, Call{"MTLCommandBufferDescriptor", _cmd}).retainedReferences;
}
- (void)setRetainedReferences:(BOOL)retained {
  used(state_, Call{"MTLCommandBufferDescriptor", _cmd}).retainedReferences = retained;
}
- (MTLCommandBufferErrorOption)errorOptions {
  return used(state_, Call{"MTLCommandBufferDescriptor", _cmd}).errorOptions;
}
- (void)setErrorOptions:(MTLCommandBufferErrorOption)options {
  used(state_, Call{"MTLCommandBufferDescriptor", _cmd}).errorOptions = options;
}
@end
