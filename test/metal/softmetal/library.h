#pragma once

#import <Metal/Metal.h>

#include "object.h"
#include "shader.h"

struct SoftLibrary : softmetal::Counted {
  SoftLibrary() : Counted("MTLLibrary") {}
  softmetal::Ref<id<MTLDevice>> device;
  softmetal::Ref<NSString*> label;
  std::shared_ptr<const softmetal::Shader> shader;
};

@interface SoftMetalLibrary : NSObject <MTLLibrary> {
 @public
  SoftLibrary* state_;
}
@end

namespace softmetal {

// A library made by the xcrun of this folder. Nil with an error for any other data, or if a fault is set.
id<MTLLibrary> newLibrary(id<MTLDevice> device, dispatch_data_t data, __autoreleasing NSError** error,
                          const Call& call);
// Nil with an error if the text has a mistake, or if a fault is set.
id<MTLLibrary> newLibrary(id<MTLDevice> device, NSString* source, MTLCompileOptions* options,
                          __autoreleasing NSError** error, const Call& call);

}  // namespace softmetal
