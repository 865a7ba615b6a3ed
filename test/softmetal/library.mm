#include "library.h"

#include <algorithm>

#include "execute.h"
#include "ledger.h"
#include "settings.h"

using softmetal::Call;

NSErrorDomain const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";

namespace {

// Where `text` has its n-th line, in the words of Apple's compiler.
std::string complaint(const std::string& text) {
  const auto newline = [&] { return std::count(text.begin(), text.end(), '\n') / 2 + 1; };
  return "program_source:" + std::to_string(newline()) +
         ":5: error: use of undeclared identifier 'softmetal_fault'\n    softmetal_fault;\n    ^\n";
}

}  // namespace

namespace softmetal {

id<MTLLibrary> newLibrary(id<MTLDevice> device, NSString* source, MTLCompileOptions* options,
                          __autoreleasing NSError** error, const Call& call) {
  if (source == nil) call.refuse("is given a nil source.");
  const std::string text = textOf(source);
  // A runtime compiler has no folder to look in.
  const size_t include = text.find("#include \"");
  if (include != std::string::npos || isOn("compileFails")) {
    const std::string why = include != std::string::npos
                                ? "program_source:1:10: fatal error: '" +
                                      text.substr(include + 10, text.find('"', include + 10) - include - 10) +
                                      "' file not found\n"
                                : complaint(text);
    if (error != nullptr) *error = errorOf(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, why);
    return nil;
  }
  SoftMetalLibrary* library = [SoftMetalLibrary alloc];
  library->state_ = new SoftLibrary;
  library->state_->device = Ref<id<MTLDevice>>(device);
  library->state_->kernels = signaturesOf(text);
  count("libraries");
  if (options == nil || ([options fastMathEnabled] && [options mathMode] != MTLMathModeSafe))
    count("fastMathLibraries");
  return library;
}

}  // namespace softmetal

@implementation SoftMetalLibrary
SOFT_LIFETIME("MTLLibrary")
SOFT_LABEL("MTLLibrary")
- (id<MTLDevice>)device {
  return used(state_, Call{"MTLLibrary", _cmd}).device.get();
}
- (NSArray<NSString*>*)functionNames {
  NSMutableArray* names = [NSMutableArray array];
  for (const auto& kernel : used(state_, Call{"MTLLibrary", _cmd}).kernels)
    [names addObject:softmetal::stringOf(kernel.name)];
  return names;
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)functionName {
  const Call call{"MTLLibrary", _cmd};
  const SoftLibrary& library = used(state_, call);
  if (functionName == nil) call.refuse("is given a nil name.");
  const std::string name = softmetal::textOf(functionName);
  if (name == softmetal::text("missingFunction") || softmetal::kernelNamed(name) == nullptr) return nil;
  for (const auto& kernel : library.kernels) {
    if (kernel.name != name) continue;
    SoftMetalFunction* function = [SoftMetalFunction alloc];
    function->state_ = new SoftFunction(kernel);
    function->state_->device = library.device;
    return function;
  }
  return nil;
}
@end

@implementation SoftMetalFunction
SOFT_LIFETIME("MTLFunction")
SOFT_LABEL("MTLFunction")
- (id<MTLDevice>)device {
  return used(state_, Call{"MTLFunction", _cmd}).device.get();
}
- (MTLFunctionType)functionType {
  used(state_, Call{"MTLFunction", _cmd});
  return MTLFunctionTypeKernel;
}
- (NSString*)name {
  return softmetal::stringOf(used(state_, Call{"MTLFunction", _cmd}).signature.name);
}
@end
