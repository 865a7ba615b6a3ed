// What a pipeline reports about its kernel's arguments.
#include "object.h"
#include "pipeline.h"
#include "settings.h"
#include "structure.h"

using softmetal::Argument;
using softmetal::Call;

struct SoftBinding : softmetal::Counted {
  explicit SoftBinding(const Argument& argument) : Counted("MTLBinding"), argument(argument) {}
  const Argument argument;
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

namespace {

// A fault: the compiler reports an argument that differs from the text.
Argument altered(Argument argument) {
  const std::string fault = softmetal::text("reflectionFault"), name = argument.name + ":";
  if (fault.compare(0, name.size(), name) != 0) return argument;
  const std::string what = fault.substr(name.size());
  if (what == "name") argument.name = "another";
  if (what == "index") argument.index += 7;
  if (what == "size") argument.dataBytes += 4;
  if (what == "member") argument.members.back().offsetBytes += 4;
  if (what == "written") argument.readOnly = false;
  if (what == "unused") argument.kind = Argument::Kind::place;
  return argument;
}

}  // namespace

namespace softmetal {

MTLComputePipelineReflection* reflectionOf(const SoftPipeline& pipeline) {
  MTLComputePipelineReflection* reflection = [[[MTLComputePipelineReflection alloc] init] autorelease];
  for (const Argument& declared : pipeline.signature.arguments) {
    const Argument argument = altered(declared);
    if (argument.kind == Argument::Kind::place) continue;
    SoftMetalBinding* binding = [SoftMetalBinding alloc];
    binding->state_ = new SoftBinding(argument);
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
  switch (used(state_, Call{"MTLBinding", _cmd}).argument.kind) {
    case Argument::Kind::threadgroup:
      return MTLBindingTypeThreadgroupMemory;
    case Argument::Kind::texture:
      return MTLBindingTypeTexture;
    case Argument::Kind::sampler:
      return MTLBindingTypeSampler;
    default:
      return MTLBindingTypeBuffer;
  }
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
  return used(state_, Call{"MTLBinding", _cmd}).argument.alignmentBytes;
}
- (NSUInteger)bufferDataSize {
  return used(state_, Call{"MTLBinding", _cmd}).argument.dataBytes;
}
- (MTLStructType*)bufferStructType {
  return softmetal::structTypeOf(used(state_, Call{"MTLBinding", _cmd}).argument.members);
}
- (NSUInteger)threadgroupMemoryAlignment {
  return used(state_, Call{"MTLBinding", _cmd}).argument.alignmentBytes;
}
- (NSUInteger)threadgroupMemoryDataSize {
  return used(state_, Call{"MTLBinding", _cmd}).argument.dataBytes;
}
@end
