#include "device.h"

#include <algorithm>

#include "environment.h"
#include "exit.h"
#include "kernel.h"

namespace covarium::addon {

namespace {

struct Finalizer {
  std::shared_ptr<BufferTable> table;
  uint64_t id;
};

void finalize(napi_env, void* contents, void* hint) {
  const std::unique_ptr<Finalizer> finalizer(static_cast<Finalizer*>(hint));
  auto& entries = finalizer->table->entries;
  const auto found = entries.find(static_cast<char*>(contents));
  if (found != entries.end() && found->second.id == finalizer->id) entries.erase(found);
}

// Ordinary memory that allocate() gave, for release() to know.
constexpr napi_type_tag ordinaryTag = {0x636f76617269756dull, 0x6f7264696e617279ull};

constexpr size_t mostExternal = 1 << 16;
constexpr size_t externalBufferLimitBytes = size_t{1} << 32;  // beyond the limit of its Buffer, Node ends the process

// By the constructor, which throws where napi_create_arraybuffer would end the process.
Napi::Value ordinaryMemory(Napi::Env env, size_t sizeBytes) {
  try {
    const auto constructor = env.Global().Get("ArrayBuffer").As<Napi::Function>();
    const Napi::Object made = constructor.New({Napi::Number::New(env, static_cast<double>(sizeBytes))});
    napi_type_tag_object(env, made, &ordinaryTag);
    return made;
  } catch (const Napi::Error&) {
    throw Failure("ERR_OUT_OF_MEMORY", "Memory for (" + std::to_string(sizeBytes) + ") bytes is not to be had.");
  }
}

Dtype dtypeOf(napi_typedarray_type type) {
  switch (type) {
    case napi_float32_array:
      return Dtype::float32;
    case napi_float64_array:
      return Dtype::float64;
    case napi_int32_array:
      return Dtype::int32;
    case napi_uint32_array:
      return Dtype::uint32;
    case napi_uint8_array:
      return Dtype::uint8;
    default:
      throw Failure("ERR_UNSUPPORTED_DTYPE", "Operand is a typed array of an unsupported type.");
  }
}

// Memory with a detach key (Node 24.15 and later set one where worker_threads.markAsUntransferable is called) can't be
// detached by napi_detach_arraybuffer, which ends the process; transfer() throws, and the memory stays until it is
// collected. Node 20 has no transfer(), and no such key.
void detach(Napi::Env env, napi_value arrayBuffer) {
  try {
    const Napi::Object memory(env, arrayBuffer);
    const Napi::Value transfer = memory.Get("transfer");
    if (transfer.IsFunction())
      transfer.As<Napi::Function>().Call(memory, {Napi::Number::New(env, 0)});
    else
      napi_detach_arraybuffer(env, arrayBuffer);
  } catch (const Napi::Error&) {
  }
}

// The pages of a buffer that shrinks go away under a command that uses them. A SharedArrayBuffer can only grow. Memory
// that does not begin with a page cannot change its size; to ask V8 about it takes a tenth of a small call.
void refuseResizable(Napi::Env env, napi_value arrayBuffer, const char* begin) {
  constexpr uintptr_t leastPageBytes = 4096;
  if (reinterpret_cast<uintptr_t>(begin) % leastPageBytes != 0) return;
  bool ordinary = false;
  napi_is_arraybuffer(env, arrayBuffer, &ordinary);
  const char* property = ordinary ? "resizable" : "growable";
  napi_value value;
  bool resizable = false;
  if (napi_get_named_property(env, arrayBuffer, property, &value) == napi_ok)
    napi_get_value_bool(env, value, &resizable);
  if (resizable)
    throw Failure("ERR_INVALID_ARGUMENT",
                  "Operand is in a " + std::string(property) + " buffer, whose memory may go away.");
}

// The operand, among those borrowed last, that has these bytes: commands of one commit share a few, and to borrow one
// takes several questions to Node-API. If it has lost its memory since, the commit fails.
const Operand* lately(const std::vector<Borrowed>& borrowed, const char* address, size_t sizeBytes) {
  constexpr size_t most = 16;
  if (sizeBytes == 0) return nullptr;
  for (size_t i = 0; i < std::min(borrowed.size(), most); ++i) {
    const Operand& operand = borrowed[borrowed.size() - 1 - i].operand;
    const char* begin = operand.address();
    if (begin <= address && address + sizeBytes <= begin + operand.sizeBytes()) return &operand;
  }
  return nullptr;
}

}  // namespace

Napi::Function DeviceObject::define(Napi::Env env) {
  return DefineClass(
      env, "NativeDevice",
      {InstanceMethod<&DeviceObject::allocate>("allocate"), InstanceMethod<&DeviceObject::release>("release"),
       InstanceMethod<&DeviceObject::settle>("settle"), InstanceMethod<&DeviceObject::fetch>("fetch"),
       InstanceMethod<&DeviceObject::encoder>("encoder"), InstanceMethod<&DeviceObject::memory>("memory"),
       InstanceMethod<&DeviceObject::compile>("compile"), InstanceMethod<&DeviceObject::translator>("translator"),
       InstanceMethod<&DeviceObject::translate>("translate"), InstanceMethod<&DeviceObject::explain>("explain"),
       InstanceMethod<&DeviceObject::closeFromScript>("close")});
}

std::shared_ptr<Device> DeviceObject::open(const std::string& kind, const OpenOptions& options) {
  return kind == "metal" ? metal::open(options) : kind == "cuda" ? cuda::open(options) : cpu::open(options.threads);
}

Napi::Object DeviceObject::objectOf(Napi::Env env, std::shared_ptr<Device> device, const std::string& kind) {
  closeAtExit(device, kind);
  return Environment::of(env).deviceClass.New(
      {Napi::External<std::shared_ptr<Device>>::New(env, &device), Napi::String::New(env, kind)});
}

DeviceObject::DeviceObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<DeviceObject>(info), env_(info.Env()) {
  if (!info[0].IsExternal()) throw Napi::TypeError::New(env_, "Devices come from openDevice().");
  device_ = *info[0].As<Napi::External<std::shared_ptr<Device>>>().Data();
  Environment::of(env_).devices.insert(this);
  Napi::Object self = info.This().As<Napi::Object>();
  self["kind"] = info[1];
  self["name"] = Napi::String::New(env_, device_->name());
  self["threads"] = Napi::Number::New(env_, device_->threads());
  self["lacksDecompositions"] = Napi::String::New(env_, device_->lacksDecompositions());
  self["triesEigenvalues"] = Napi::Boolean::New(env_, device_->triesEigenvalues());
  self["deviceMemoryFromBytes"] = Napi::Number::New(env_, static_cast<double>(device_->deviceMemoryFromBytes()));
  Napi::Array dtypes = Napi::Array::New(env_);
  for (const Dtype dtype : device_->dtypes())
    dtypes[dtypes.Length()] = Napi::String::New(env_, dtype == Dtype::float32 ? "float32" : "float64");
  self["dtypes"] = dtypes;
  self["hasOwnMemory"] = Napi::Boolean::New(env_, device_->hasOwnMemory());
}

DeviceObject::~DeviceObject() {
  close();
  if (auto* environment = env_.GetInstanceData<Environment>()) environment->devices.erase(this);
}

// Buffers that are still open keep their memory until they are collected.
void DeviceObject::close() {
  if (device_ == nullptr) return;
  device_->close();
  device_ = nullptr;
}

Device& DeviceObject::device(Napi::Env) { return *shared(); }

const std::shared_ptr<Device>& DeviceObject::shared() {
  if (device_ == nullptr) throw Failure("ERR_CLOSED", "Device is closed (it was closed before this call).");
  return device_;
}

Napi::Value DeviceObject::allocate(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return guarded(env, [&]() -> Napi::Value {
    const auto sizeBytes = static_cast<size_t>(info[0].As<Napi::Number>().DoubleValue());
    const bool isOnGpu = device(env).hasOwnMemory() && info[1].ToBoolean();
    // Not touched yet: it may still be too much.
    auto buffer = isOnGpu ? device(env).allocateOnGpu(sizeBytes) : device(env).allocate(sizeBytes);
    // Forgotten external buffers come back only when control returns to the event loop. A loop that never returns would
    // hold all of the memory, or all the buffers that a GPU may have (499,000 on Apple's), so beyond a part of either
    // results are V8's own, which it collects while it allocates. What is asked for on a GPU is closed by its user.
    const bool isBeyond = !isOnGpu && device(env).liveAndPooledBytes().first > device(env).mostOpenBytes();
    const bool forgetful = (isBeyond && !table_->entries.empty()) || table_->entries.size() > mostExternal;
    bool& externalBuffers = Environment::of(env).externalBuffers;
    if (forgetful || sizeBytes >= externalBufferLimitBytes || !externalBuffers) {
      buffer.reset();
      return ordinaryMemory(env, sizeBytes);
    }
    auto* contents = static_cast<char*>(buffer->contents());
    auto finalizer = std::make_unique<Finalizer>(Finalizer{table_, ++table_->lastId});
    napi_value made;
    const napi_status status =
        napi_create_external_arraybuffer(env, contents, sizeBytes, finalize, finalizer.get(), &made);
    if (status == napi_no_external_buffers_allowed) {
      externalBuffers = false;
      buffer.reset();
      return ordinaryMemory(env, sizeBytes);
    }
    if (status != napi_ok)
      throw Failure("ERR_OUT_OF_MEMORY",
                    "An ArrayBuffer of (" + std::to_string(sizeBytes) + ") bytes is not to be had.");
    table_->entries[contents] = {std::move(buffer), finalizer.release()->id};
    return Napi::Value(env, made);
  });
}

void DeviceObject::release(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  void* contents = nullptr;
  size_t sizeBytes = 0;
  if (napi_get_arraybuffer_info(env, info[0], &contents, &sizeBytes) != napi_ok || contents == nullptr) return;
  bool ordinary = false;
  napi_check_object_type_tag(env, info[0], &ordinaryTag, &ordinary);
  // Detaching frees ordinary memory, which commands may still write: then it goes when it is collected, after them.
  if (ordinary && Environment::of(env).isInFlight(contents, sizeBytes)) return;
  if (ordinary || table_->entries.erase(static_cast<char*>(contents)) != 0) detach(env, info[0]);
}

std::shared_ptr<Buffer> DeviceObject::bufferOf(const Napi::Value& memory) {
  void* contents = nullptr;
  size_t sizeBytes = 0;
  if (napi_get_arraybuffer_info(memory.Env(), memory, &contents, &sizeBytes) != napi_ok) return nullptr;
  const auto found = table_->entries.find(static_cast<char*>(contents));
  return found == table_->entries.end() ? nullptr : found->second.buffer;
}

void DeviceObject::settle(const Napi::CallbackInfo& info) {
  const auto values = info[0].As<Napi::TypedArray>();
  if (const auto buffer = bufferOf(values.ArrayBuffer())) buffer->settle(values.ByteOffset(), values.ByteLength());
}

void DeviceObject::fetch(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    if (const auto buffer = bufferOf(info[0])) device(info.Env()).fetch(buffer);
  });
}

Napi::Value DeviceObject::encoder(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    device(info.Env());
    return Environment::of(info.Env()).encoderClass.New({info.This()});
  });
}

Napi::Value DeviceObject::compile(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return KernelObject::compile(info.Env(), shared(), info[0].As<Napi::Object>()); });
}

Napi::Value DeviceObject::translator(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return KernelObject::translator(info.Env(), shared()); });
}

Napi::Value DeviceObject::translate(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    std::vector<std::string> folders;
    const auto given = info[1].As<Napi::Array>();
    for (uint32_t i = 0; i < given.Length(); ++i) folders.push_back(given.Get(i).As<Napi::String>().Utf8Value());
    return KernelObject::translate(info.Env(), shared(), info[0].As<Napi::String>().Utf8Value(), std::move(folders));
  });
}

// Of the command and the numbers of lib/backend.ts.
Napi::Value DeviceObject::explain(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::string command = info[0].As<Napi::String>();
    const auto size = [&](size_t i) { return static_cast<size_t>(info[i].As<Napi::Number>().Int64Value()); };
    using Command = Question::Command;
    const Question question = {command == "sample"   ? Command::sample
                               : command == "logPdf" ? Command::logPdf
                               : command == "factor" ? Command::factor
                                                     : Command::multiply,
                               size(1),
                               size(2),
                               size(3),
                               info[4].As<Napi::String>().Utf8Value() == "float64" ? Dtype::float64 : Dtype::float32,
                               info[5].As<Napi::Boolean>()};
    const Explanation explanation = device(info.Env()).explain(question);
    Napi::Object answer = Napi::Object::New(info.Env());
    answer["runsOn"] = Napi::String::New(info.Env(), explanation.onGpu ? "gpu" : "cpu");
    answer["because"] = Napi::String::New(info.Env(), explanation.because);
    if (explanation.gpuSeconds < 0) return answer;
    answer["gpuMs"] = Napi::Number::New(info.Env(), explanation.gpuSeconds * 1e3);
    answer["cpuMs"] = Napi::Number::New(info.Env(), explanation.cpuSeconds * 1e3);
    return answer;
  });
}

Napi::Value DeviceObject::memory(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto [live, pooled] = device(info.Env()).liveAndPooledBytes();
    Napi::Object usage = Napi::Object::New(info.Env());
    usage["liveBytes"] = static_cast<double>(live);
    usage["pooledBytes"] = static_cast<double>(pooled);
    return usage;
  });
}

Operand DeviceObject::operandOf(Napi::Env env, napi_value typedArray, std::vector<Borrowed>& borrowed) {
  napi_typedarray_type type;
  size_t length;
  void* data;
  napi_value arrayBuffer;
  size_t offsetBytes;
  if (napi_get_typedarray_info(env, typedArray, &type, &length, &data, &arrayBuffer, &offsetBytes) != napi_ok) {
    throw Failure("ERR_INVALID_ARGUMENT", "Operand is not a typed array.");
  }
  const Dtype dtype = dtypeOf(type);
  auto* address = static_cast<char*>(data);
  const auto behind = table_->entries.upper_bound(address);
  if (address != nullptr && behind != table_->entries.begin()) {
    const auto& [base, entry] = *std::prev(behind);
    if (address + length * bytesOf(dtype) <= base + entry.buffer->sizeBytes()) {
      return {entry.buffer, static_cast<size_t>(address - base), length, dtype};
    }
  }
  device(env);
  if (const Operand* whole = lately(borrowed, address, length * bytesOf(dtype)))
    return {whole->buffer, whole->offsetBytes + (address - whole->address()), length, dtype};
  refuseResizable(env, arrayBuffer, address - offsetBytes);
  const Operand operand = {device_->borrow(data, length * bytesOf(dtype)), 0, length, dtype};
  napi_ref reference;
  requireOk(napi_create_reference(env, typedArray, 1, &reference));
  borrowed.push_back({reference, operand});
  return operand;
}

}  // namespace covarium::addon
