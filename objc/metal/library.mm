#include "library.h"

#include <algorithm>
#include <vector>

#include "text.h"

namespace covarium::metal {

namespace {

// The normals promise bits, so the compiler must not reassociate, and must not flush what the text says. Contraction
// is forbidden in the text itself (msl/dialect.h), since safe mathematics allows it. Since macOS 15 functions such as
// exp, log and sin have their own mode, which safe mathematics leaves at the fast one.
void forbidFastMathematics(MTLCompileOptions* options) {
#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED) || __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
  if (@available(macOS 15.0, *)) {
    [options setMathMode:MTLMathModeSafe];
    [options setMathFloatingPointFunctions:MTLMathFloatingPointFunctionsPrecise];
    return;
  }
#endif
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  [options setFastMathEnabled:NO];
#pragma clang diagnostic pop
}

// Without this option, the messages that a text logs are lost. With it, MTL_LOG_LEVEL and MTL_LOG_TO_STDERR say where
// they go.
void allowLogs(MTLCompileOptions* options, NSString* text) {
#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED) || __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
  if (@available(macOS 15.0, *))
    if (textOf(text).find("os_log") != std::string::npos) [options setEnableLogging:YES];
#endif
}

}  // namespace

MTLLanguageVersion newestLanguage() {
#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED) || __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
  if (@available(macOS 15.0, *)) return MTLLanguageVersion3_2;
#endif
#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED) || __MAC_OS_X_VERSION_MAX_ALLOWED >= 140000
  if (@available(macOS 14.0, *)) return MTLLanguageVersion3_1;
#endif
  return MTLLanguageVersion3_0;
}

Owned<id<MTLLibrary>> newLibrary(id<MTLDevice> device, NSString* text, NSString* label, MTLLanguageVersion language,
                                 NSError** error) {
  const auto options = Owned<MTLCompileOptions*>::adopt([[MTLCompileOptions alloc] init]);
  forbidFastMathematics(options.get());
  allowLogs(options.get(), text);
  [options.get() setLanguageVersion:language];
  auto library = Owned<id<MTLLibrary>>::adopt([device newLibraryWithSource:text options:options.get() error:error]);
  [library.get() setLabel:label];
  return library;
}

std::string kernelNames(id<MTLLibrary> library) {
  std::vector<std::string> all;
  for (NSString* name in [library functionNames]) all.push_back(textOf(name));
  std::sort(all.begin(), all.end());
  std::string list;
  for (const std::string& name : all) list += (list.empty() ? "" : ", ") + name;
  return list;
}

Owned<id<MTLComputePipelineState>> newPipeline(id<MTLDevice> device, id<MTLFunction> function, NSString* label,
                                               MTLComputePipelineReflection** reflection, NSError** error) {
  const auto descriptor = Owned<MTLComputePipelineDescriptor*>::adopt([[MTLComputePipelineDescriptor alloc] init]);
  [descriptor.get() setLabel:label];
  [descriptor.get() setComputeFunction:function];
  return Owned<id<MTLComputePipelineState>>::adopt([device
      newComputePipelineStateWithDescriptor:descriptor.get()
                                    options:MTLPipelineOptionArgumentInfo | MTLPipelineOptionBufferTypeInfo
                                 reflection:reflection
                                      error:error]);
}

}  // namespace covarium::metal
