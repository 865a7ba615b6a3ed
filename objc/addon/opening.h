#pragma once

#include <napi.h>

namespace covarium::addon {

// `openDevice` and `openDeviceAsync` of lib/addon/native.ts.
Napi::Value openDevice(const Napi::CallbackInfo& info);
Napi::Value openDeviceAsync(const Napi::CallbackInfo& info);

// `kernels` of OpenOptions, by a JavaScript function, while the native function that it was passed to runs.
std::function<std::string()> kernelsBy(const Napi::Value& function);

}  // namespace covarium::addon
