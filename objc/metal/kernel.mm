#include "kernel.h"

#include <algorithm>
#include <map>

#include "../failure.h"
#include "library.h"
#include "text.h"

namespace covarium::metal {

namespace {

constexpr size_t mostKept = 64, mostKeptBytes = 16 << 20;

// Apple numbers the vector widths 1 to 4 of a scalar type consecutively. 0 for a type that no function constant has.
NSUInteger dataTypeOf(const std::string& word) {
  static const std::map<std::string, NSUInteger> scalars = {
      {"float", MTLDataTypeFloat}, {"half", MTLDataTypeHalf},   {"int", MTLDataTypeInt},
      {"uint", MTLDataTypeUInt},   {"short", MTLDataTypeShort}, {"ushort", MTLDataTypeUShort},
      {"char", MTLDataTypeChar},   {"uchar", MTLDataTypeUChar}, {"bool", MTLDataTypeBool},
      {"long", MTLDataTypeLong},   {"ulong", MTLDataTypeULong}};
  const bool isVector = !word.empty() && word.back() >= '2' && word.back() <= '4';
  const auto found = scalars.find(isVector ? word.substr(0, word.size() - 1) : word);
  if (found == scalars.end()) return MTLDataTypeNone;
  return found->second + (isVector ? static_cast<NSUInteger>(word.back() - '1') : 0);
}

std::string keyOf(const KernelSource& source) {
  std::string key = source.name + '\n';
  for (const FunctionConstant& constant : source.constants) {
    key += std::to_string(constant.index) + ' ' + constant.type + ' ' + std::to_string(constant.value.size()) + ' ';
    key.append(constant.value.begin(), constant.value.end());
  }
  return key + '\n' + source.text;
}

// Throws if the text needs a constant that isn't given, or that is given with another type.
void checkConstants(id<MTLFunction> function, const KernelSource& source) {
  NSDictionary<NSString*, MTLFunctionConstant*>* declared = [function functionConstantsDictionary];
  for (NSString* name in declared) {
    MTLFunctionConstant* constant = [declared objectForKey:name];
    const auto given = std::find_if(source.constants.begin(), source.constants.end(),
                                    [&](const FunctionConstant& each) { return each.index == [constant index]; });
    if (given == source.constants.end() && [constant required])
      throw Failure("ERR_INVALID_ARGUMENT",
                    "Function constant (" + textOf(name) + ") of kernel (" + source.name + ") has no value.");
    if (given != source.constants.end() && dataTypeOf(given->type) != [constant type])
      throw Failure("ERR_INVALID_ARGUMENT", "Function constant (" + textOf(name) + ") of kernel (" + source.name +
                                                ") is given as (" + given->type + "), but the text has another type.");
  }
}

Owned<id<MTLFunction>> specialized(id<MTLLibrary> library, const KernelSource& source) {
  auto function = Owned<id<MTLFunction>>::adopt([library newFunctionWithName:textOf(source.name)]);
  if (!function)
    throw Failure("ERR_INVALID_ARGUMENT",
                  "Kernel (" + source.name + ") is unknown; there are (" + kernelNames(library) + ").");
  checkConstants(function.get(), source);
  if ([[function.get() functionConstantsDictionary] count] == 0) return function;
  const auto values = Owned<MTLFunctionConstantValues*>::adopt([[MTLFunctionConstantValues alloc] init]);
  for (const FunctionConstant& constant : source.constants)
    [values.get() setConstantValue:constant.value.data()
                              type:static_cast<MTLDataType>(dataTypeOf(constant.type))
                           atIndex:constant.index];
  NSError* error = nil;
  function = Owned<id<MTLFunction>>::adopt(
      [library newFunctionWithName:textOf(source.name) constantValues:values.get() error:&error]);
  if (!function) throw Failure("ERR_KERNEL_COMPILE", reasonOf(error));
  return function;
}

// A user's own includes of these headers are removed when the text is flattened (lib/kernel/source.ts); the first
// line of the text is a #line.
constexpr char head[] = "#include <metal_stdlib>\n#include <simd/simd.h>\n";

std::shared_ptr<CompiledKernel> make(id<MTLDevice> device, const KernelSource& source) {
  NSString* text = source.text.find('\0') == std::string::npos ? textOf(head + source.text) : nil;
  if (text == nil) throw Failure("ERR_INVALID_ARGUMENT", "Text of kernel (" + source.name + ") is no Unicode text.");
  NSError* error = nil;
  const auto library = newLibrary(device, text, textOf(source.name), newestLanguage(), &error);
  if (!library) throw Failure("ERR_KERNEL_COMPILE", reasonOf(error));
  const auto function = specialized(library.get(), source);
  MTLComputePipelineReflection* reflection = nil;
  auto compiled = std::make_shared<CompiledKernel>();
  compiled->state = newPipeline(device, function.get(), textOf(source.name), &reflection, &error);
  if (!compiled->state)
    throw Failure("ERR_KERNEL_COMPILE", "Kernel (" + source.name + ") does not become a pipeline: " + reasonOf(error));
  compiled->bindings = bindingsOf(reflection);
  return compiled;
}

}  // namespace

MetalKernel::MetalKernel(std::shared_ptr<const CompiledKernel> compiled, const KernelSource& source,
                         id<MTLDevice> device)
    : compiled_(std::move(compiled)), constantAlignmentBytes_([device supportsFamily:MTLGPUFamilyApple1] ? 4 : 256) {
  const id<MTLComputePipelineState> state = compiled_->state.get();
  name = source.name;
  parameters = matched(source.name, source.parameters, compiled_->bindings);
  threadExecutionWidth = static_cast<uint32_t>([state threadExecutionWidth]);
  maxTotalThreadsPerThreadgroup = static_cast<uint32_t>([state maxTotalThreadsPerThreadgroup]);
  staticThreadgroupMemoryBytes = [state staticThreadgroupMemoryLength];
  maxThreadgroupMemoryBytes = [device maxThreadgroupMemoryLength];
}

size_t MetalKernel::alignmentBytes(uint32_t index) const {
  size_t bytes = 4;
  for (const KernelParameter& parameter : parameters)
    if (parameter.kind == KernelParameter::Kind::constant && parameter.index == index) bytes = constantAlignmentBytes_;
  for (const Binding& binding : compiled_->bindings)
    if (binding.table == Binding::Table::buffers && binding.index == index)
      bytes = std::max(bytes, binding.alignmentBytes);
  return bytes;
}

std::shared_ptr<CompiledKernel> KernelCache::known(const std::string& key) {
  for (auto entry = kept_.begin(); entry != kept_.end(); ++entry) {
    if (entry->key != key) continue;
    kept_.splice(kept_.begin(), kept_, entry);
    return kept_.front().compiled;
  }
  return nullptr;
}

void KernelCache::keep(const std::string& key, const std::shared_ptr<CompiledKernel>& compiled) {
  living_.erase(std::remove_if(living_.begin(), living_.end(), [](const auto& each) { return each.expired(); }),
                living_.end());
  living_.push_back(compiled);
  kept_.push_front({key, compiled});
  keptBytes_ += key.size();
  while (kept_.size() > 1 && (kept_.size() > mostKept || keptBytes_ > mostKeptBytes)) {
    keptBytes_ -= kept_.back().key.size();
    kept_.pop_back();
  }
}

std::shared_ptr<const Kernel> KernelCache::compile(const KernelSource& source) {
  const AutoreleasePool pool;
  const auto closedFailure = [&] { return Failure("ERR_CLOSED", "Device of kernel (" + source.name + ") is closed."); };
  const std::string key = keyOf(source);
  std::shared_ptr<CompiledKernel> compiled;
  Owned<id<MTLDevice>> device;  // the compiler needs it, even if the device is closed meanwhile
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) throw closedFailure();
    device = Owned<id<MTLDevice>>::retain(device_);
    compiled = known(key);
  }
  if (compiled == nullptr) {
    compiled = make(device.get(), source);
    compiled->owner = this;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) throw closedFailure();
  // Another thread may have been quicker.
  if (const auto kept = known(key)) {
    compiled = kept;
  } else {
    keep(key, compiled);
  }
  return std::make_shared<MetalKernel>(compiled, source, device.get());
}

void KernelCache::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  for (const auto& each : living_)
    if (const auto compiled = each.lock()) compiled->state = {};
  living_.clear();
  kept_.clear();
}

}  // namespace covarium::metal
