#include "reflection.h"

#include "../failure.h"
#include "text.h"

namespace covarium::metal {

namespace {

using Kind = KernelParameter::Kind;

Binding::Table tableOf(id<MTLBinding> binding) {
  switch ([binding type]) {
    case MTLBindingTypeBuffer:
      return Binding::Table::buffers;
    case MTLBindingTypeThreadgroupMemory:
      return Binding::Table::threadgroup;
    case MTLBindingTypeTexture:
      return Binding::Table::textures;
    case MTLBindingTypeSampler:
      return Binding::Table::samplers;
    default:
      return Binding::Table::other;
  }
}

const char* wordOf(Binding::Table table) {
  return table == Binding::Table::buffers       ? "buffer"
         : table == Binding::Table::threadgroup ? "threadgroup"
         : table == Binding::Table::textures    ? "texture"
         : table == Binding::Table::samplers    ? "sampler"
                                                : "other";
}

Binding::Table tableOf(const KernelParameter& parameter) {
  if (parameter.isTexture()) return Binding::Table::textures;
  if (parameter.kind == Kind::sampler) return Binding::Table::samplers;
  return parameter.kind == Kind::threadgroup ? Binding::Table::threadgroup : Binding::Table::buffers;
}

KernelParameter* parameterOf(std::vector<KernelParameter>& parameters, const Binding& binding) {
  for (KernelParameter& parameter : parameters)
    if (tableOf(parameter) == binding.table && parameter.index == binding.index) return &parameter;
  return nullptr;
}

}  // namespace

std::vector<Binding> bindingsOf(MTLComputePipelineReflection* reflection) {
  std::vector<Binding> bindings;
  for (id<MTLBinding> each in [reflection bindings]) {
    if (![each isUsed]) continue;
    Binding binding = {tableOf(each), textOf([each name]), static_cast<uint32_t>([each index]), false, 0, 1, {}};
    if (binding.table == Binding::Table::textures) binding.written = [each access] != MTLBindingAccessReadOnly;
    if (binding.table == Binding::Table::buffers) {
      const auto buffer = static_cast<id<MTLBufferBinding>>(each);
      binding.written = [buffer access] != MTLBindingAccessReadOnly;
      binding.sizeBytes = [buffer bufferDataSize];
      binding.alignmentBytes = [buffer bufferAlignment];
      for (MTLStructMember* member in [[buffer bufferStructType] members])
        binding.members.emplace_back(textOf([member name]), [member offset]);
    }
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

std::vector<KernelParameter> matched(const std::string& kernel, std::vector<KernelParameter> parameters,
                                     const std::vector<Binding>& bindings) {
  for (const Binding& binding : bindings) {
    KernelParameter* parameter = parameterOf(parameters, binding);
    const std::string place = std::string(wordOf(binding.table)) + " index (" + std::to_string(binding.index) + ")";
    const auto refuse = [&](const std::string& read, const std::string& compiled) {
      return Failure("ERR_UNSUPPORTED", "Kernel (" + kernel + ") has " + compiled + " at " + place +
                                            ", but its text shows " + read + " there.");
    };
    if (parameter == nullptr) throw refuse("nothing", "an argument (" + binding.name + ")");
    if (parameter->name != binding.name)
      throw refuse("(" + parameter->name + ")", "an argument (" + binding.name + ")");
    if (binding.written && !parameter->isWritten())
      throw refuse("one that is only read", "an argument (" + binding.name + ") that it writes");
    if (binding.table != Binding::Table::buffers || binding.sizeBytes == 0) continue;
    parameter->sizeBytes = binding.sizeBytes;
    parameter->members = binding.members;
  }
  return parameters;
}

}  // namespace covarium::metal
