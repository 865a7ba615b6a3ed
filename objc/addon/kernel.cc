#include "kernel.h"

#include <functional>
#include <utility>

#include "environment.h"

namespace covarium::addon {

namespace {

using Kind = KernelParameter::Kind;

std::string stringIn(const Napi::Object& object, const char* name) {
  return object.Get(name).As<Napi::String>().Utf8Value();
}

uint32_t numberIn(const Napi::Object& object, const char* name) {
  return object.Get(name).As<Napi::Number>().Uint32Value();
}

Kind kindOf(const std::string& word) {
  if (word == "read") return Kind::read;
  if (word == "written") return Kind::written;
  if (word == "constant") return Kind::constant;
  if (word == "threadgroup") return Kind::threadgroup;
  if (word == "texture") return Kind::texture;
  if (word == "writtenTexture") return Kind::writtenTexture;
  if (word == "sampler") return Kind::sampler;
  throw Failure("ERR_INTERNAL", "Parameter is of a kind that is none (" + word + ").");
}

KernelSource sourceOf(const Napi::Object& given) {
  KernelSource source;
  source.text = stringIn(given, "text");
  source.name = stringIn(given, "name");
  source.library = stringIn(given, "library");
  source.isForGpu = given.Get("isForGpu").As<Napi::Boolean>();
  source.check = given.Get("check").As<Napi::Boolean>();
  const auto constants = given.Get("constants").As<Napi::Array>();
  for (uint32_t i = 0; i < constants.Length(); ++i) {
    const auto constant = constants.Get(i).As<Napi::Object>();
    const auto value = constant.Get("value").As<Napi::Uint8Array>();
    source.constants.push_back(
        {numberIn(constant, "index"), stringIn(constant, "type"), {value.Data(), value.Data() + value.ByteLength()}});
  }
  const auto parameters = given.Get("parameters").As<Napi::Array>();
  for (uint32_t i = 0; i < parameters.Length(); ++i) {
    const auto parameter = parameters.Get(i).As<Napi::Object>();
    source.parameters.push_back({kindOf(stringIn(parameter, "kind")),
                                 stringIn(parameter, "name"),
                                 numberIn(parameter, "index"),
                                 numberIn(parameter, "sizeBytes"),
                                 {}});
    const auto members = parameter.Get("members").As<Napi::Array>();
    for (uint32_t m = 0; m < members.Length(); ++m) {
      const auto member = members.Get(m).As<Napi::Object>();
      source.parameters.back().members.emplace_back(stringIn(member, "name"), numberIn(member, "offsetBytes"));
    }
  }
  return source;
}

// Runs Device::compile away from the JavaScript thread.
class Compilation : public Napi::AsyncWorker {
 public:
  Compilation(Napi::Env env, std::shared_ptr<Device> device, KernelSource source)
      : Napi::AsyncWorker(env, "covarium kernel"),
        deferred_(Napi::Promise::Deferred::New(env)),
        device_(std::move(device)),
        source_(std::move(source)) {}
  Napi::Promise promise() const { return deferred_.Promise(); }

  void Execute() override {
    try {
      kernel_ = device_->compile(source_);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void OnOK() override {
    const Napi::Env env = Env();
    if (failure_ != nullptr) return deferred_.Reject(errorOf(env, failure_).Value());
    deferred_.Resolve(
        Environment::of(env).kernelClass.New({Napi::External<std::shared_ptr<const Kernel>>::New(env, &kernel_),
                                              Napi::External<Device>::New(env, device_.get())}));
  }

 private:
  Napi::Promise::Deferred deferred_;
  std::shared_ptr<Device> device_;
  KernelSource source_;
  std::shared_ptr<const Kernel> kernel_;
  std::exception_ptr failure_;
};

// A string that a device makes away from the JavaScript thread.
class Asked : public Napi::AsyncWorker {
 public:
  Asked(Napi::Env env, std::function<std::string()> ask)
      : Napi::AsyncWorker(env, "covarium kernel"), deferred_(Napi::Promise::Deferred::New(env)), ask_(std::move(ask)) {}
  Napi::Promise promise() const { return deferred_.Promise(); }

  void Execute() override {
    try {
      answer_ = ask_();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void OnOK() override {
    const Napi::Env env = Env();
    if (failure_ != nullptr) return deferred_.Reject(errorOf(env, failure_).Value());
    deferred_.Resolve(Napi::String::New(env, answer_));
  }

 private:
  Napi::Promise::Deferred deferred_;
  std::function<std::string()> ask_;
  std::string answer_;
  std::exception_ptr failure_;
};

Napi::Value asked(Napi::Env env, std::function<std::string()> ask) {
  auto* worker = new Asked(env, std::move(ask));
  const Napi::Promise promise = worker->promise();
  worker->Queue();
  return promise;
}

}  // namespace

Napi::Value KernelObject::translator(Napi::Env env, std::shared_ptr<Device> device) {
  return asked(env, [device = std::move(device)] { return device->translator(); });
}

Napi::Value KernelObject::translate(Napi::Env env, std::shared_ptr<Device> device, std::string text,
                                    std::vector<std::string> folders) {
  return asked(env, [device = std::move(device), text = std::move(text), folders = std::move(folders)] {
    return device->translate(text, folders);
  });
}

Napi::Function KernelObject::define(Napi::Env env) { return DefineClass(env, "NativeKernel", {}); }

Napi::Value KernelObject::compile(Napi::Env env, std::shared_ptr<Device> device, const Napi::Object& source) {
  auto* compilation = new Compilation(env, std::move(device), sourceOf(source));
  const Napi::Promise promise = compilation->promise();
  compilation->Queue();
  return promise;
}

KernelObject::KernelObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<KernelObject>(info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsExternal()) throw Napi::TypeError::New(env, "Kernels come from Device.kernel().");
  kernel_ = *info[0].As<Napi::External<std::shared_ptr<const Kernel>>>().Data();
  device_ = info[1].As<Napi::External<Device>>().Data();
  const auto number = [env](double value) { return Napi::Number::New(env, value); };
  Napi::Object self = info.This().As<Napi::Object>();
  self["threadExecutionWidth"] = number(kernel_->threadExecutionWidth);
  self["maxTotalThreadsPerThreadgroup"] = number(kernel_->maxTotalThreadsPerThreadgroup);
  self["staticThreadgroupMemoryBytes"] = number(static_cast<double>(kernel_->staticThreadgroupMemoryBytes));
  self["maxThreadgroupMemoryBytes"] = number(static_cast<double>(kernel_->maxThreadgroupMemoryBytes));
  Napi::Array parameters = Napi::Array::New(env);
  for (const KernelParameter& parameter : kernel_->parameters) {
    Napi::Object object = Napi::Object::New(env);
    object["sizeBytes"] = number(static_cast<double>(parameter.sizeBytes));
    Napi::Array members = Napi::Array::New(env);
    for (const auto& [name, offsetBytes] : parameter.members) {
      Napi::Object member = Napi::Object::New(env);
      member["name"] = name;
      member["offsetBytes"] = number(static_cast<double>(offsetBytes));
      members[members.Length()] = member;
    }
    object["members"] = members;
    parameters[parameters.Length()] = object;
  }
  self["parameters"] = parameters;
}

const std::shared_ptr<const Kernel>& KernelObject::of(Napi::Env env, const Napi::Value& value, const Device& device) {
  const auto object = value.As<Napi::Object>();
  if (!object.InstanceOf(Environment::of(env).kernelClass.Value()))
    throw Failure("ERR_INVALID_ARGUMENT", "Kernel is not one that Device.kernel() gives.");
  const KernelObject* kernel = KernelObject::Unwrap(object);
  if (kernel->device_ != &device)
    throw Failure("ERR_FOREIGN_BUFFER", "Kernel (" + kernel->kernel_->name + ") belongs to another device.");
  return kernel->kernel_;
}

}  // namespace covarium::addon
