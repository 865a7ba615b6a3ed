#include "pipeline.h"

#include <algorithm>

#include "device.h"
#include "function.h"
#include "ledger.h"
#include "settings.h"

using softmetal::Call;

namespace softmetal {

id<MTLComputePipelineState> newPipeline(id<MTLDevice> device, const PipelineRequest& request,
                                        MTLAutoreleasedComputePipelineReflection* reflection,
                                        __autoreleasing NSError** error, const Call& call) {
  if (request.function == nil) call.refuse("is given a nil function.");
  const SoftFunction& function = used(static_cast<SoftMetalFunction*>(request.function)->state_, call);
  checkSameDevice(device, function.device.get(), "function", call);
  std::string why;
  Signature signature = function.signature;
  const auto kernel = function.shader->build(signature, function.constants, why);
  if (function.signature.name == text("pipelineFails")) why = "the compiler service has been interrupted";
  if (kernel == nullptr || !why.empty()) {
    if (error != nullptr)
      *error = errorOf(@"AGXMetal", 2, "Kernel '" + function.signature.name + "' can't be built: " + why + ".");
    return nil;
  }
  SoftMetalPipeline* pipeline = [SoftMetalPipeline alloc];
  pipeline->state_ = new SoftPipeline(signature, kernel);
  pipeline->state_->device = Ref<id<MTLDevice>>(device);
  pipeline->state_->label = copyOf(request.label != nil ? request.label : function.label.get());
  pipeline->state_->width = kernel->width();
  const NSUInteger most = static_cast<NSUInteger>(number("maximumGroup"));
  pipeline->state_->maximumGroup = request.maximumGroup == 0 ? most : std::min(most, request.maximumGroup);
  if (reflection != nullptr) *reflection = reflectionOf(*pipeline->state_);
  count("pipelines");
  count("pipelines " + function.signature.name);
  return pipeline;
}

}  // namespace softmetal

@implementation SoftMetalPipeline
SOFT_LIFETIME("MTLComputePipelineState")
- (NSString*)label {
  return used(state_, Call{"MTLComputePipelineState", _cmd}).label.get();
}
- (id<MTLDevice>)device {
  return used(state_, Call{"MTLComputePipelineState", _cmd}).device.get();
}
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return used(state_, Call{"MTLComputePipelineState", _cmd}).maximumGroup;
}
- (NSUInteger)threadExecutionWidth {
  return used(state_, Call{"MTLComputePipelineState", _cmd}).width;
}
- (NSUInteger)staticThreadgroupMemoryLength {
  return used(state_, Call{"MTLComputePipelineState", _cmd}).signature.threadgroupBytes;
}
@end
