#include "shaders.h"

#include <algorithm>

#include "../failure.h"
#include "shader-source.h"
#include "text.h"

namespace covarium::metal {

namespace {

// The normals promise bits: no reassociation, no flushing of what the text says. Contraction is forbidden in the text
// itself (msl/normal.metal), since safe mathematics allows it.
void forbidFastMathematics(MTLCompileOptions* options) {
#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED) || __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
  if (@available(macOS 15.0, *)) {
    [options setMathMode:MTLMathModeSafe];
    return;
  }
#endif
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  [options setFastMathEnabled:NO];
#pragma clang diagnostic pop
}

void reflect(Pipeline& pipeline, MTLComputePipelineReflection* reflection) {
  NSUInteger last = 0;
  for (id<MTLBinding> binding in [reflection bindings]) {
    if ([binding type] == MTLBindingTypeThreadgroupMemory) pipeline.hasThreadgroupMemory = true;
    if ([binding type] != MTLBindingTypeBuffer) continue;
    ++pipeline.buffers;
    if ([binding index] < last) continue;
    last = [binding index];
    pipeline.paramsBytes = [(id<MTLBufferBinding>)binding bufferDataSize];
  }
  if (pipeline.buffers > 0) --pipeline.buffers;  // the last are the params
}

}  // namespace

Shaders::Shaders(id<MTLDevice> device) : device_(device) {
  const auto options = Owned<MTLCompileOptions*>::adopt([[MTLCompileOptions alloc] init]);
  forbidFastMathematics(options.get());
  [options.get() setLanguageVersion:MTLLanguageVersion3_0];
  NSError* error = nil;
  library_ = Owned<id<MTLLibrary>>::adopt(
      [device newLibraryWithSource:[NSString stringWithUTF8String:shaderSource] options:options.get() error:&error]);
  if (!library_)
    throw Failure("ERR_DEVICE_UNAVAILABLE", "The Metal compiler refuses covarium's shaders: " + reasonOf(error));
  [library_.get() setLabel:@"covarium"];
}

std::string Shaders::names() const {
  std::vector<std::string> all;
  for (NSString* name in [library_.get() functionNames]) all.push_back(textOf(name));
  std::sort(all.begin(), all.end());
  std::string list;
  for (const std::string& name : all) list += (list.empty() ? "" : ", ") + name;
  return list;
}

void Shaders::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  // Commands that are recorded and never committed refer to them.
  for (auto& [name, pipeline] : pipelines_) pipeline.state = {};
  library_ = {};
}

const Pipeline& Shaders::pipeline(const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!library_) throw Failure("ERR_CLOSED", "Device of kernel (" + name + ") is closed.");
  const auto known = pipelines_.find(name);
  if (known != pipelines_.end()) return known->second;
  const auto function = Owned<id<MTLFunction>>::adopt([library_.get() newFunctionWithName:textOf(name)]);
  if (!function)
    throw Failure("ERR_INVALID_ARGUMENT", "Kernel (" + name + ") is unknown; there are (" + names() + ").");
  const auto descriptor = Owned<MTLComputePipelineDescriptor*>::adopt([[MTLComputePipelineDescriptor alloc] init]);
  [descriptor.get() setLabel:textOf(name)];
  [descriptor.get() setComputeFunction:function.get()];
  NSError* error = nil;
  MTLComputePipelineReflection* reflection = nil;
  Pipeline made;
  made.name = name;
  made.state = Owned<id<MTLComputePipelineState>>::adopt([device_
      newComputePipelineStateWithDescriptor:descriptor.get()
                                    options:MTLPipelineOptionArgumentInfo | MTLPipelineOptionBufferTypeInfo
                                 reflection:&reflection
                                      error:&error]);
  if (!made.state)
    throw Failure("ERR_DEVICE_FAILED", "Kernel (" + name + ") does not become a pipeline: " + reasonOf(error));
  reflect(made, reflection);
  return pipelines_.emplace(name, std::move(made)).first->second;
}

}  // namespace covarium::metal
