// The module: `Addon` of lib/addon/native.ts.
#include <napi.h>

#include "device.h"
#include "encoder.h"
#include "environment.h"
#include "kernel.h"
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

// By Node's own zlib, while JavaScript waits for the device that opens. The addon is loaded by getBuiltinModule, too.
auto decompressedIn(Napi::Env env) {
  return [env](const unsigned char* bytes, size_t count) -> std::string {
    const auto process = env.Global().Get("process").As<Napi::Object>();
    const auto builtin = process.Get("getBuiltinModule").As<Napi::Function>();
    const auto zlib = builtin.Call(process, {Napi::String::New(env, "zlib")}).As<Napi::Object>();
    const auto decompress = zlib.Get("brotliDecompressSync").As<Napi::Function>();
    const auto text = decompress.Call(zlib, {Napi::Buffer<unsigned char>::Copy(env, bytes, count)});
    const auto all = text.As<Napi::Uint8Array>();
    return {reinterpret_cast<const char*>(all.Data()), all.ByteLength()};
  };
}

Napi::Value candidates(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    OpenOptions ofCuda;
    ofCuda.decompressed = decompressedIn(info.Env());
    Napi::Array all = Napi::Array::New(info.Env());
    all[0u] = objectOf(info.Env(), "metal", metal::candidate());
    all[1u] = objectOf(info.Env(), "cuda", cuda::candidate(ofCuda));
    all[2u] = objectOf(info.Env(), "cpu", cpu::candidate());
    return all;
  });
}

Napi::Value openDevice(const Napi::CallbackInfo& info) {
  const auto given = info[1].As<Napi::Object>();
  OpenOptions options;
  options.threads = given.Get("threads").As<Napi::Number>().Uint32Value();
  const Napi::Value gpu = given.Get("gpu");
  if (gpu.IsString()) options.gpu = gpu.As<Napi::String>();
  options.decompressed = decompressedIn(info.Env());
  const Napi::Value hasPassed = given.Get("hasPassed"), passed = given.Get("passed");
  if (hasPassed.IsFunction()) {
    options.hasPassed = [hasPassed](const std::string& name) {
      return hasPassed.As<Napi::Function>().Call({Napi::String::New(hasPassed.Env(), name)}).ToBoolean().Value();
    };
  }
  if (passed.IsFunction()) {
    options.passed = [passed](const std::string& name) {
      passed.As<Napi::Function>().Call({Napi::String::New(passed.Env(), name)});
    };
  }
  return DeviceObject::open(info.Env(), info[0].As<Napi::String>().Utf8Value(), options);
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
