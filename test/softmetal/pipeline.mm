#include "pipeline.h"

#include <algorithm>

#include "device.h"
#include "ledger.h"
#include "library.h"
#include "settings.h"

using softmetal::Argument;
using softmetal::Call;

namespace {

// What Metal finds between a kernel's text and a pipeline, and we between the text and the CPU's table: buffers 0, 1,
// ... in order, then one constant argument. Empty where they agree.
std::string disagreement(const softmetal::Signature& signature, const softmetal::KernelFacts& kernel) {
  unsigned buffers = 0, constants = 0, groups = 0;
  for (const Argument& argument : signature.arguments) {
    if (argument.kind == Argument::Kind::place) continue;
    if (argument.kind == Argument::Kind::threadgroup) {
      if (argument.index != static_cast<int>(groups++))
        return "threadgroup argument '" + argument.name + "' has index " + std::to_string(argument.index);
      continue;
    }
    if (argument.index != static_cast<int>(buffers + constants))
      return "argument '" + argument.name + "' has buffer index " + std::to_string(argument.index);
    ++(argument.kind == Argument::Kind::constant ? constants : buffers);
  }
  if (buffers != kernel.buffers || constants != (kernel.paramsBytes == 0 ? 0u : 1u))
    return "the text has " + std::to_string(buffers) + " buffers and " + std::to_string(constants) +
           " constant arguments, the CPU's table " + std::to_string(kernel.buffers) + " buffers";
  if ((groups != 0) != kernel.usesThreadgroupMemory) return "only one of text and table uses threadgroup memory";
  return "";
}

}  // namespace

namespace softmetal {

id<MTLComputePipelineState> newPipeline(id<MTLDevice> device, const PipelineRequest& request,
                                        MTLAutoreleasedComputePipelineReflection* reflection,
                                        __autoreleasing NSError** error, const Call& call) {
  if (request.function == nil) call.refuse("is given a nil function.");
  const SoftFunction& function = used(static_cast<SoftMetalFunction*>(request.function)->state_, call);
  checkSameDevice(device, function.device.get(), "function", call);
  const KernelFacts& kernel = *kernelNamed(function.signature.name);
  std::string why = disagreement(function.signature, kernel);
  if (function.signature.name == text("pipelineFails")) why = "the compiler service has been interrupted";
  if (!why.empty()) {
    if (error != nullptr)
      *error = errorOf(@"AGXMetal", 2, "Kernel '" + function.signature.name + "' can't be built: " + why + ".");
    return nil;
  }
  SoftMetalPipeline* pipeline = [SoftMetalPipeline alloc];
  pipeline->state_ = new SoftPipeline(function.signature, kernel);
  pipeline->state_->device = Ref<id<MTLDevice>>(device);
  pipeline->state_->label = copyOf(request.label != nil ? request.label : function.label.get());
  pipeline->state_->width = static_cast<NSUInteger>(number("executionWidth"));
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
  used(state_, Call{"MTLComputePipelineState", _cmd});
  return 0;
}
@end
