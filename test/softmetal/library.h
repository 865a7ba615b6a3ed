#pragma once

#import <Metal/Metal.h>

#include <vector>

#include "object.h"
#include "signature.h"

struct SoftLibrary : softmetal::Counted {
  SoftLibrary() : Counted("MTLLibrary") {}
  softmetal::Ref<id<MTLDevice>> device;
  softmetal::Ref<NSString*> label;
  std::vector<softmetal::Signature> kernels;
};

struct SoftFunction : softmetal::Counted {
  explicit SoftFunction(softmetal::Signature signature) : Counted("MTLFunction"), signature(std::move(signature)) {}
  const softmetal::Signature signature;
  softmetal::Ref<id<MTLDevice>> device;
  softmetal::Ref<NSString*> label;
};

@interface SoftMetalLibrary : NSObject <MTLLibrary> {
 @public
  SoftLibrary* state_;
}
@end

@interface SoftMetalFunction : NSObject <MTLFunction> {
 @public
  SoftFunction* state_;
}
@end

namespace softmetal {

// "Compiles": finds the kernels in the text. Nil with an error where a fault is asked for.
id<MTLLibrary> newLibrary(id<MTLDevice> device, NSString* source, MTLCompileOptions* options,
                          __autoreleasing NSError** error, const Call& call);

}  // namespace softmetal
