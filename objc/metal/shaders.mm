#include "shaders.h"

#include <dispatch/dispatch.h>

#include "../failure.h"
#include "library.h"
#include "shader-source.h"
#include "text.h"

namespace covarium::metal {

namespace {

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

// The library that Apple's compiler made of the text when the addon was built, so that opening a device need not wait
// for a compiler. Nil if there was no such compiler, or if this system refuses its library.
Owned<id<MTLLibrary>> newBuiltLibrary(id<MTLDevice> device) {
  if (shaderLibraryBytes == 0) return {};
  const dispatch_data_t data =
      dispatch_data_create(shaderLibrary, shaderLibraryBytes, nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  auto library = Owned<id<MTLLibrary>>::adopt([device newLibraryWithData:data error:nullptr]);
  dispatch_release(data);
  [library.get() setLabel:@"covarium"];
  return library;
}

}  // namespace

Shaders::Shaders(id<MTLDevice> device) : device_(device), library_(newBuiltLibrary(device)) {
  if (library_) return;
  NSError* error = nil;
  library_ =
      newLibrary(device, [NSString stringWithUTF8String:shaderSource], @"covarium", MTLLanguageVersion3_0, &error);
  if (!library_)
    throw Failure("ERR_DEVICE_UNAVAILABLE", "The Metal compiler refuses covarium's shaders.\n\n" + reasonOf(error));
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
    throw Failure("ERR_INVALID_ARGUMENT",
                  "Kernel (" + name + ") is unknown; there are (" + kernelNames(library_.get()) + ").");
  NSError* error = nil;
  MTLComputePipelineReflection* reflection = nil;
  Pipeline made;
  made.name = name;
  made.state = newPipeline(device_, function.get(), textOf(name), &reflection, &error);
  if (!made.state)
    throw Failure("ERR_DEVICE_FAILED", "Kernel (" + name + ") does not become a pipeline: " + reasonOf(error));
  reflect(made, reflection);
  return pipelines_.emplace(name, std::move(made)).first->second;
}

}  // namespace covarium::metal
