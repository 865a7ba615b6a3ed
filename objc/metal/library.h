// Compiles texts of Metal Shading Language and makes pipelines. The options are the same for the package's own
// shaders and for a user's kernel, except for the language's version.
#pragma once

#import <Metal/Metal.h>

#include <string>

#include "owned.h"

namespace covarium::metal {

// The newest language of this system: a user's text may use what came after Metal 3.0, such as bfloat and logs.
MTLLanguageVersion newestLanguage();

// The compiled text; empty if it has a mistake, which `error` then describes. Takes milliseconds to seconds.
Owned<id<MTLLibrary>> newLibrary(id<MTLDevice> device, NSString* text, NSString* label, MTLLanguageVersion language,
                                 NSError** error);

// The names of a library's kernels, sorted, with commas.
std::string kernelNames(id<MTLLibrary> library);

// A kernel that can be dispatched, and what its compiled form takes; empty if the system can't make it, with the
// reason in `error`. `reflection` is autoreleased.
Owned<id<MTLComputePipelineState>> newPipeline(id<MTLDevice> device, id<MTLFunction> function, NSString* label,
                                               MTLComputePipelineReflection** reflection, NSError** error);

}  // namespace covarium::metal
