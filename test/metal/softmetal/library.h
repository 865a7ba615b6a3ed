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

// Of what the xcrun of this folder made. Nil with an error where it made something else, or a fault is asked for.
id<MTLLibrary> newLibrary(id<MTLDevice> device, dispatch_data_t data, __autoreleasing NSError** error,
                          const Call& call);
// Nil with an error where the text has a mistake, or a fault is asked for.
id<MTLLibrary> newLibrary(id<MTLDevice> device, NSString* source, MTLCompileOptions* options,
                          __autoreleasing NSError** error, const Call& call);

}  // namespace softmetal
