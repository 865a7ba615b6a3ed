#include "opening.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "device.h"
#include "environment.h"

namespace covarium::addon {

namespace {

std::string textOf(const Napi::Value& bytes) {
  const auto all = bytes.As<Napi::Uint8Array>();
  return {reinterpret_cast<const char*>(all.Data()), all.ByteLength()};
}

// Thrown by the first attempt. Not a std::exception, which the device would report as a GPU's failure.
struct NeedsKernels {};

// A device that is being opened: on the JavaScript thread, or away from it.
class Opening {
 public:
  explicit Opening(const Napi::CallbackInfo& info) : kind_(info[0].As<Napi::String>()) {
    const auto given = info[1].As<Napi::Object>();
    options.threads = given.Get("threads").As<Napi::Number>().Uint32Value();
    const Napi::Value gpu = given.Get("gpu"), knownGpus = given.Get("knownGpus");
    if (gpu.IsString()) options.gpu = gpu.As<Napi::String>();
    if (knownGpus.IsArray()) {
      const auto all = knownGpus.As<Napi::Array>();
      for (uint32_t i = 0; i < all.Length(); ++i) {
        const auto known = Napi::Value(all[i]).As<Napi::Object>();
        const auto rates = known.Get("rates").As<Napi::Array>();
        KnownGpu& kept = known_[known.Get("gpu").ToString()];
        for (uint32_t k = 0; k < rates.Length(); ++k) kept.rates.push_back(Napi::Value(rates[k]).ToNumber());
        kept.isOld = known.Get("isOld").ToBoolean();
      }
    }
    options.known = [this](const std::string& name) {
      const auto found = known_.find(name);
      return found == known_.end() ? nullptr : &found->second;
    };
    options.learned = [this](const std::string& name, const std::vector<double>& rates) {
      learned_ = name;
      rates_ = rates;
    };
  }

  void open() { device_ = DeviceObject::open(kind_, options); }

  // The device as an object; on the JavaScript thread, after open().
  Napi::Value object(Napi::Env env) {
    Napi::Object made = DeviceObject::objectOf(env, device_, kind_);
    if (learned_.empty()) return made;
    Napi::Array rates = Napi::Array::New(env, rates_.size());
    for (uint32_t i = 0; i < rates_.size(); ++i) rates[i] = Napi::Number::New(env, rates_[i]);
    Napi::Object learned = Napi::Object::New(env);
    learned["gpu"] = Napi::String::New(env, learned_);
    learned["rates"] = rates;
    made["learned"] = learned;
    return made;
  }

  OpenOptions options;

 private:
  std::string kind_, learned_;
  std::vector<double> rates_;
  std::map<std::string, KnownGpu> known_;
  std::shared_ptr<Device> device_;
};

class AsyncOpening : public Napi::AsyncWorker {
 public:
  explicit AsyncOpening(const Napi::CallbackInfo& info)
      : Napi::AsyncWorker(info.Env(), "covarium device"),
        deferred_(Napi::Promise::Deferred::New(info.Env())),
        opening_(info) {
    const Napi::Value kernels = info[1].As<Napi::Object>().Get("kernels");
    if (kernels.IsTypedArray())
      opening_.options.kernels = [text = textOf(kernels)] { return text; };
    else
      opening_.options.kernels = []() -> std::string { throw NeedsKernels(); };
  }
  Napi::Promise promise() const { return deferred_.Promise(); }

  void Execute() override {
    try {
      opening_.open();
    } catch (const NeedsKernels&) {
      needsKernels_ = true;
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void OnOK() override {
    if (failure_ != nullptr) return deferred_.Reject(errorOf(Env(), failure_).Value());
    deferred_.Resolve(needsKernels_ ? Env().Null() : opening_.object(Env()));
  }

 private:
  Napi::Promise::Deferred deferred_;
  Opening opening_;
  bool needsKernels_ = false;
  std::exception_ptr failure_;
};

}  // namespace

std::function<std::string()> kernelsBy(const Napi::Value& function) {
  return [function] { return textOf(function.As<Napi::Function>().Call({})); };
}

Napi::Value openDevice(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    Opening opening(info);
    opening.options.kernels = kernelsBy(info[1].As<Napi::Object>().Get("kernels"));
    opening.open();
    return opening.object(info.Env());
  });
}

Napi::Value openDeviceAsync(const Napi::CallbackInfo& info) {
  auto* opening = new AsyncOpening(info);  // deletes itself
  const Napi::Promise promise = opening->promise();
  opening->Queue();
  return promise;
}

}  // namespace covarium::addon
