#include "library.h"

#include <algorithm>

#include "constant-values.h"
#include "function.h"
#include "ledger.h"
#include "settings.h"

using softmetal::Call;

NSErrorDomain const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";

namespace {

// An error in the middle line of `text`, as Apple's compiler words it.
std::string complaint(const std::string& text) {
  const auto newline = [&] { return std::count(text.begin(), text.end(), '\n') / 2 + 1; };
  return "program_source:" + std::to_string(newline()) +
         ":5: error: use of undeclared identifier 'softmetal_fault'\n    softmetal_fault;\n    ^\n";
}

MTLLanguageVersion newestLanguage(int64_t system) {
  return system >= 15 ? MTLLanguageVersion3_2 : system == 14 ? MTLLanguageVersion3_1 : MTLLanguageVersion3_0;
}

id<MTLLibrary> libraryOf(id<MTLDevice> device, std::shared_ptr<const softmetal::Shader> shader) {
  SoftMetalLibrary* library = [SoftMetalLibrary alloc];
  library->state_ = new SoftLibrary;
  library->state_->device = softmetal::Ref<id<MTLDevice>>(device);
  library->state_->shader = std::move(shader);
  softmetal::count("libraries");
  return library;
}

}  // namespace

namespace softmetal {

id<MTLLibrary> newLibrary(id<MTLDevice> device, dispatch_data_t data, __autoreleasing NSError** error,
                          const Call& call) {
  if (data == nil) call.refuse("is given nil data.");
  NSData* given = (NSData*)data;
  const std::string bytes(static_cast<const char*>([given bytes]), [given length]);
  std::string diagnostics = "Invalid library file";
  const bool isOurs = bytes.compare(0, 4, "MTLB") == 0 && !isOn("libraryRefused");
  const auto shader = isOurs ? compileShader(bytes.substr(4), diagnostics) : nullptr;
  if (shader == nullptr) {
    if (error != nullptr) *error = errorOf(MTLLibraryErrorDomain, MTLLibraryErrorInternal, diagnostics);
    return nil;
  }
  count("builtLibraries");
  return libraryOf(device, shader);
}

id<MTLLibrary> newLibrary(id<MTLDevice> device, NSString* source, MTLCompileOptions* options,
                          __autoreleasing NSError** error, const Call& call) {
  if (source == nil) call.refuse("is given a nil source.");
  const int64_t system = number("system");
  const MTLLanguageVersion newest = newestLanguage(system);
  if (options != nil && [options languageVersion] > newest)
    call.refuse("is asked for version (%zu.%zu) of the language, but macOS (%d) has (%zu.%zu).",
                size_t{[options languageVersion] >> 16}, size_t{[options languageVersion] & 0xffff},
                static_cast<int>(system), size_t{newest >> 16}, size_t{newest & 0xffff});
  const std::string text = textOf(source);
  const bool logs = text.find("os_log") != std::string::npos;
  if (logs && system >= 15 && (options == nil || ![options enableLogging]))
    call.refuse("is given a text that logs, without enableLogging.");
  std::string diagnostics = isOn("compileFails") ? complaint(text) : "";
  if (logs && system < 15) diagnostics = "program_source:1:10: fatal error: 'metal_logging' file not found\n";
  const auto shader = diagnostics.empty() ? compileShader(text, diagnostics) : nullptr;
  if (shader == nullptr) {
    if (error != nullptr) *error = errorOf(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, diagnostics);
    return nil;
  }
  // Before macOS 15 the math mode of functions was not a separate option.
  if (options == nil || [options fastMathEnabled] ||
      (system >= 15 && [options mathFloatingPointFunctions] != MTLMathFloatingPointFunctionsPrecise))
    count("fastMathLibraries");
  return libraryOf(device, shader);
}

}  // namespace softmetal

namespace {

// Nil if the library has no kernel of that name.
SoftMetalFunction* newFunction(const SoftLibrary& library, NSString* functionName, const Call& call) {
  if (functionName == nil) call.refuse("is given a nil name.");
  const std::string name = softmetal::textOf(functionName);
  if (name == softmetal::text("missingFunction")) return nil;
  for (const auto& kernel : library.shader->kernels()) {
    if (kernel.name != name) continue;
    SoftMetalFunction* function = [SoftMetalFunction alloc];
    function->state_ = new SoftFunction(kernel);
    function->state_->shader = library.shader;
    function->state_->device = library.device;
    return function;
  }
  return nil;
}

}  // namespace

@implementation SoftMetalLibrary
SOFT_LIFETIME("MTLLibrary")
SOFT_LABEL("MTLLibrary")
- (id<MTLDevice>)device {
  return used(state_, Call{"MTLLibrary", _cmd}).device.get();
}
- (NSArray<NSString*>*)functionNames {
  NSMutableArray* names = [NSMutableArray array];
  for (const auto& kernel : used(state_, Call{"MTLLibrary", _cmd}).shader->kernels())
    [names addObject:softmetal::stringOf(kernel.name)];
  return names;
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)functionName {
  const Call call{"MTLLibrary", _cmd};
  return newFunction(used(state_, call), functionName, call);
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name
                        constantValues:(MTLFunctionConstantValues*)constantValues
                                 error:(__autoreleasing NSError**)error {
  const Call call{"MTLLibrary", _cmd};
  const SoftLibrary& library = used(state_, call);
  if (constantValues == nil) call.refuse("is given nil constant values.");
  std::string why;
  SoftMetalFunction* function = newFunction(library, name, call);
  if (function == nil) {
    why = "Function '" + softmetal::textOf(name) + "' does not exist.";
  } else {
    const auto constants = library.shader->constants();
    function->state_->constants = softmetal::bytesFor(constants, constantValues, call);
    for (const auto& constant : constants)
      if (constant.required && function->state_->constants.count(constant.name) == 0)
        why = "Function constant '" + constant.name + "' has no value.";
  }
  if (why.empty()) return function;
  [function release];
  if (error != nullptr) *error = softmetal::errorOf(MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound, why);
  return nil;
}
@end
