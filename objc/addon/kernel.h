#pragma once

#include <napi.h>

#include <memory>
#include <string>
#include <vector>

#include "../device.h"

namespace covarium::addon {

// CompiledKernel of lib/backend.ts.
class KernelObject : public Napi::ObjectWrap<KernelObject> {
 public:
  static Napi::Function define(Napi::Env env);
  // A promise of one: the compiler runs on a thread of libuv's pool.
  static Napi::Value compile(Napi::Env env, std::shared_ptr<Device> device, const Napi::Object& source);
  // Promises of what Device::translator() and Device::translate() give.
  static Napi::Value translator(Napi::Env env, std::shared_ptr<Device> device);
  static Napi::Value translate(Napi::Env env, std::shared_ptr<Device> device, std::string text,
                               std::vector<std::string> folders);
  explicit KernelObject(const Napi::CallbackInfo& info);

  // Throws ERR_INVALID_ARGUMENT if `value` is not a kernel, ERR_FOREIGN_BUFFER if it is another device's.
  static const std::shared_ptr<const Kernel>& of(Napi::Env env, const Napi::Value& value, const Device& device);

 private:
  std::shared_ptr<const Kernel> kernel_;
  const Device* device_;  // whose it is; never followed
};

}  // namespace covarium::addon
