// The module: `Addon` of lib/addon/native.ts.
#include <napi.h>

#include "device.h"
#include "encoder.h"
#include "environment.h"
#include "kernel.h"
#include "opening.h"
#include "table.h"

namespace covarium::addon {

namespace {

Napi::Object objectOf(Napi::Env env, const char* kind, const Candidate& candidate) {
  Napi::Object object = Napi::Object::New(env), facts = Napi::Object::New(env);
  Napi::Array warnings = Napi::Array::New(env);
  for (const auto& [name, value] : candidate.facts) facts[name] = value;
  for (const auto& warning : candidate.warnings) warnings[warnings.Length()] = warning;
  object["kind"] = kind;
  object["available"] = candidate.available;
  object["name"] = candidate.name;
  object["reason"] = candidate.reason;
  object["facts"] = facts;
  object["warnings"] = warnings;
  return object;
}

Napi::Value candidates(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    OpenOptions ofCuda;
    ofCuda.kernels = kernelsBy(info[0]);
    Napi::Array all = Napi::Array::New(info.Env());
    all[0u] = objectOf(info.Env(), "metal", metal::candidate());
    all[1u] = objectOf(info.Env(), "cuda", cuda::candidate(ofCuda));
    all[2u] = objectOf(info.Env(), "cpu", cpu::candidate());
    return all;
  });
}

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  auto environment = std::make_unique<Environment>(env);
  environment->deviceClass = Napi::Persistent(DeviceObject::define(env));
  environment->encoderClass = Napi::Persistent(EncoderObject::define(env));
  environment->kernelClass = Napi::Persistent(KernelObject::define(env));
  env.SetInstanceData(environment.release());
  exports["candidates"] = Napi::Function::New<candidates>(env);
  exports["version"] = COVARIUM_VERSION;
  exports["openDevice"] = Napi::Function::New<openDevice>(env);
  exports["openDeviceAsync"] = Napi::Function::New<openDeviceAsync>(env);
  exports["readCsv"] = Napi::Function::New<readCsv>(env);
  exports["writeCsv"] = Napi::Function::New<writeCsv>(env);
  exports["interleave"] = Napi::Function::New<interleave>(env);
  exports["deinterleave"] = Napi::Function::New<deinterleave>(env);
  exports["readColumns"] = Napi::Function::New<readColumns>(env);
  exports["useLargePages"] = Napi::Function::New<useLargePages>(env);
  exports["adjustExternalMemory"] = Napi::Function::New<adjustExternalMemory>(env);
  return exports;
}

NODE_API_MODULE(covarium, initialize)

}  // namespace

}  // namespace covarium::addon
