#pragma once

#import <Metal/Metal.h>

#include "object.h"
#include "shader.h"

struct SoftFunction : softmetal::Counted {
  explicit SoftFunction(softmetal::Signature signature) : Counted("MTLFunction"), signature(std::move(signature)) {}
  const softmetal::Signature signature;
  std::shared_ptr<const softmetal::Shader> shader;
  softmetal::ConstantBytes constants;
  softmetal::Ref<id<MTLDevice>> device;
  softmetal::Ref<NSString*> label;
};

@interface SoftMetalFunction : NSObject <MTLFunction> {
 @public
  SoftFunction* state_;
}
@end
