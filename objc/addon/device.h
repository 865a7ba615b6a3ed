#pragma once

#include <napi.h>

#include <map>
#include <memory>
#include <vector>

#include "../device.h"
#include "environment.h"

namespace covarium::addon {

// Which device memory each external ArrayBuffer is, by address. Only the JavaScript thread touches it.
struct BufferTable {
  struct Entry {
    std::shared_ptr<Buffer> buffer;
    uint64_t id;  // an address comes back; the finalizer of an older buffer must not free the younger one
  };
  std::map<char*, Entry> entries;
  uint64_t lastId = 0;
};

// Backend of lib/backend.ts.
class DeviceObject : public Napi::ObjectWrap<DeviceObject> {
 public:
  static Napi::Function define(Napi::Env env);
  // Any thread may call open(); objectOf() makes the object of a device that it has opened.
  static std::shared_ptr<Device> open(const std::string& kind, const OpenOptions& options);
  static Napi::Object objectOf(Napi::Env env, std::shared_ptr<Device> device, const std::string& kind);
  explicit DeviceObject(const Napi::CallbackInfo& info);
  ~DeviceObject() override;

  // The operand behind a typed array: device memory, or the host's own, which `borrowed` then has and keeps alive.
  Operand operandOf(Napi::Env env, napi_value typedArray, std::vector<Borrowed>& borrowed);
  // Throws ERR_CLOSED after close().
  Device& device(Napi::Env env);
  const std::shared_ptr<Device>& shared();
  void close();

 private:
  Napi::Value allocate(const Napi::CallbackInfo& info);
  void release(const Napi::CallbackInfo& info);
  void settle(const Napi::CallbackInfo& info);
  void fetch(const Napi::CallbackInfo& info);
  Napi::Value encoder(const Napi::CallbackInfo& info);
  Napi::Value compile(const Napi::CallbackInfo& info);
  Napi::Value translator(const Napi::CallbackInfo& info);
  Napi::Value translate(const Napi::CallbackInfo& info);
  Napi::Value explain(const Napi::CallbackInfo& info);
  Napi::Value memory(const Napi::CallbackInfo& info);
  // Of the ArrayBuffer that is the first argument; null where it is not this device's.
  std::shared_ptr<Buffer> bufferOf(const Napi::Value& memory);
  void closeFromScript(const Napi::CallbackInfo&) { close(); }

  std::shared_ptr<Device> device_;
  std::shared_ptr<BufferTable> table_ = std::make_shared<BufferTable>();
  Napi::Env env_;
};

}  // namespace covarium::addon
