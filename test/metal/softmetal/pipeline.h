#pragma once

#import <Metal/Metal.h>

#include <memory>

#include "execute.h"
#include "object.h"

struct SoftPipeline : softmetal::Counted {
  SoftPipeline(const softmetal::Signature& signature, std::shared_ptr<const softmetal::Executable> kernel)
      : Counted("MTLComputePipelineState"), signature(signature), kernel(std::move(kernel)) {}
  const softmetal::Signature signature;
  const std::shared_ptr<const softmetal::Executable> kernel;
  softmetal::Ref<id<MTLDevice>> device;
  softmetal::Ref<NSString*> label;
  NSUInteger width = 0, maximumGroup = 0;
};

@interface SoftMetalPipeline : NSObject <MTLComputePipelineState> {
 @public
  SoftPipeline* state_;
}
@end

namespace softmetal {

struct PipelineRequest {
  id<MTLFunction> function;
  NSString* label;
  NSUInteger maximumGroup;  // 0: the device's
};

id<MTLComputePipelineState> newPipeline(id<MTLDevice> device, const PipelineRequest& request,
                                        MTLAutoreleasedComputePipelineReflection* reflection,
                                        __autoreleasing NSError** error, const Call& call);

// The reflection with what -[MTLComputePipelineReflection bindings] returns.
MTLComputePipelineReflection* reflectionOf(const SoftPipeline& pipeline);

}  // namespace softmetal
