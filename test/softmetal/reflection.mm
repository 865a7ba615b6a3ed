// What a pipeline tells of its kernel's arguments.
#include "object.h"
#include "pipeline.h"

using softmetal::Argument;
using softmetal::Call;

struct SoftBinding : softmetal::Counted {
  SoftBinding(const Argument& argument, size_t dataSize)
      : Counted("MTLBinding"), argument(argument), dataSize(dataSize) {}
  const Argument argument;
  const size_t dataSize;
};

struct SoftReflection : softmetal::Counted {
  SoftReflection() : Counted("MTLComputePipelineReflection") {}
  softmetal::Ref<NSMutableArray*> bindings = softmetal::Ref<NSMutableArray*>::adopt([[NSMutableArray alloc] init]);
};

@interface SoftMetalBinding : NSObject <MTLBufferBinding, MTLThreadgroupBinding> {
 @public
  SoftBinding* state_;
}
@end

@interface MTLComputePipelineReflection (Software)
- (SoftReflection*)reflect;
@end

namespace softmetal {

MTLComputePipelineReflection* reflectionOf(const SoftPipeline& pipeline) {
  MTLComputePipelineReflection* reflection = [[[MTLComputePipelineReflection alloc] init] autorelease];
  for (const Argument& argument : pipeline.signature.arguments) {
    if (argument.kind == Argument::Kind::place) continue;
    SoftMetalBinding* binding = [SoftMetalBinding alloc];
    binding->state_ =
        new SoftBinding(argument, argument.kind == Argument::Kind::constant ? pipeline.kernel.paramsBytes : 4);
    [[reflection reflect]->bindings.get() addObject:binding];
    [binding release];
  }
  return reflection;
}

}  // namespace softmetal

@implementation MTLComputePipelineReflection
SOFT_LIFETIME("MTLComputePipelineReflection")
- (instancetype)init {
  if ((self = [super init]) != nil) state_ = new SoftReflection;
  return self;
}
- (SoftReflection*)reflect {
  return state_;
}
- (NSArray<id<MTLBinding>>*)bindings {
  return used(state_, Call{"MTLComputePipelineReflection", _cmd}).bindings.get();
}
@end

@implementation SoftMetalBinding
SOFT_LIFETIME("MTLBinding")
- (NSString*)name {
  return softmetal::stringOf(used(state_, Call{"MTLBinding", _cmd}).argument.name);
}
- (MTLBindingType)type {
  const bool group = used(state_, Call{"MTLBinding", _cmd}).argument.kind == Argument::Kind::threadgroup;
  return group ? MTLBindingTypeThreadgroupMemory : MTLBindingTypeBuffer;
}
- (MTLBindingAccess)access {
  const bool readOnly = used(state_, Call{"MTLBinding", _cmd}).argument.readOnly;
  return readOnly ? MTLBindingAccessReadOnly : MTLBindingAccessReadWrite;
}
- (NSUInteger)index {
  return static_cast<NSUInteger>(used(state_, Call{"MTLBinding", _cmd}).argument.index);
}
- (BOOL)isUsed {
  used(state_, Call{"MTLBinding", _cmd});
  return YES;
}
- (BOOL)isArgument {
  used(state_, Call{"MTLBinding", _cmd});
  return YES;
}
- (NSUInteger)bufferAlignment {
  used(state_, Call{"MTLBinding", _cmd});
  return 4;
}
- (NSUInteger)bufferDataSize {
  return used(state_, Call{"MTLBinding", _cmd}).dataSize;
}
- (NSUInteger)threadgroupMemoryAlignment {
  used(state_, Call{"MTLBinding", _cmd});
  return 4;
}
- (NSUInteger)threadgroupMemoryDataSize {
  return used(state_, Call{"MTLBinding", _cmd}).dataSize;
}
@end
