#pragma once

#include <napi.h>

namespace covarium::addon {

// `openDevice`, `openDeviceAsync` and `compressedKernels` of lib/addon/native.ts.
Napi::Value openDevice(const Napi::CallbackInfo& info);
Napi::Value openDeviceAsync(const Napi::CallbackInfo& info);
Napi::Value compressedKernels(const Napi::CallbackInfo& info);

// Decompresses the kernels by Node's own zlib, on the JavaScript thread.
std::function<std::string()> kernelsIn(Napi::Env env);

}  // namespace covarium::addon
