// EncoderObject::launch: a kernel of msl/ by name, or one that Device::compile has made.
#include "arguments.h"
#include "device.h"
#include "encoder.h"
#include "environment.h"
#include "kernel.h"

namespace covarium::addon {

void EncoderObject::launch(const Napi::CallbackInfo& info) {
  launches_ = true;
  guarded(info.Env(), [&] {
    if (info[0].IsObject()) return launchKernel(info);
    std::vector<Operand> operands;
    const auto array = info[1].As<Napi::Array>();
    for (uint32_t i = 0; i < array.Length(); ++i) operands.push_back(operandOf(info.Env(), array.Get(i)));
    commands().launch(info[0].As<Napi::String>().Utf8Value(), std::move(operands), sizeTripleAt(info, 2),
                      sizeTripleAt(info, 3));
  });
}

void EncoderObject::launchKernel(const Napi::CallbackInfo& info) {
  const auto& kernel = KernelObject::of(info.Env(), info[0], device_->device(info.Env()));
  const auto array = info[1].As<Napi::Array>();
  std::vector<KernelOperand> operands(array.Length());
  if (operands.size() != kernel->parameters.size()) {
    throw Failure("ERR_INVALID_ARGUMENT", "Kernel (" + kernel->name + ") takes (" +
                                              std::to_string(kernel->parameters.size()) + ") arguments, not (" +
                                              std::to_string(operands.size()) + ").");
  }
  const auto bytesOf = [](const Napi::Value& value) {
    auto given = value.As<Napi::ArrayBuffer>();
    const auto* bytes = static_cast<const uint8_t*>(given.Data());
    return std::vector<uint8_t>(bytes, bytes + given.ByteLength());
  };
  for (uint32_t i = 0; i < operands.size(); ++i) {
    const Napi::Value value = array.Get(i);
    const auto kind = kernel->parameters[i].kind;
    if (kind == KernelParameter::Kind::threadgroup) {
      operands[i].threadgroupBytes = value.As<Napi::Number>().Uint32Value();
    } else if (value.IsArrayBuffer() && kind != KernelParameter::Kind::written) {
      operands[i].bytes = bytesOf(value);
    } else if (kernel->parameters[i].isTexture()) {
      const auto texture = value.As<Napi::Object>();
      operands[i].bytes = bytesOf(texture.Get("header"));
      operands[i].operand = operandOf(info.Env(), texture.Get("values"));
    } else {
      operands[i].operand = operandOf(info.Env(), value);
    }
  }
  commands().launch(kernel, std::move(operands), sizeTripleAt(info, 2), sizeTripleAt(info, 3));
}

}  // namespace covarium::addon
