// softmetal.node: the stand-in's ledger, counters and settings for JavaScript. Each function takes the path of the
// covarium.node that has them, which must be loaded.
#include <dlfcn.h>
#include <napi.h>

#include "exports.h"

namespace {

template <typename Function>
Function find(const Napi::CallbackInfo& info, const char* name) {
  const std::string path = info[0].As<Napi::String>().Utf8Value();
  void* library = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) throw Napi::Error::New(info.Env(), "The addon is not loaded (" + path + ").");
  auto function = reinterpret_cast<Function>(dlsym(library, name));
  dlclose(library);
  if (function == nullptr) throw Napi::Error::New(info.Env(), "The addon has no software Metal (" + path + ").");
  return function;
}

void enter(const char* name, int64_t value, void* object) {
  (*static_cast<Napi::Object*>(object))[name] = static_cast<double>(value);
}

Napi::Value ledger(const Napi::CallbackInfo& info) {
  Napi::Object entries = Napi::Object::New(info.Env());
  if (find<decltype(&softmetal_ledger)>(info, "softmetal_ledger")(enter, &entries) == 0)
    throw Napi::Error::New(info.Env(), "Committed work of software Metal does not end.");
  return entries;
}

Napi::Value counters(const Napi::CallbackInfo& info) {
  Napi::Object entries = Napi::Object::New(info.Env());
  find<decltype(&softmetal_counters)>(info, "softmetal_counters")(enter, &entries);
  return entries;
}

void reset(const Napi::CallbackInfo& info) { find<decltype(&softmetal_reset)>(info, "softmetal_reset")(); }

void set(const Napi::CallbackInfo& info) {
  const std::string name = info[1].As<Napi::String>().Utf8Value(), value = info[2].ToString().Utf8Value();
  if (find<decltype(&softmetal_set)>(info, "softmetal_set")(name.c_str(), value.c_str()) == 0)
    throw Napi::Error::New(info.Env(), "There is no setting (" + name + ").");
}

Napi::Value owns(const Napi::CallbackInfo& info) {
  const Napi::TypedArray array = info[1].As<Napi::TypedArray>();
  const char* bytes = static_cast<const char*>(array.ArrayBuffer().Data()) + array.ByteOffset();
  return Napi::Boolean::New(info.Env(), find<decltype(&softmetal_owns)>(info, "softmetal_owns")(bytes) != 0);
}

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  exports["ledger"] = Napi::Function::New<ledger>(env);
  exports["counters"] = Napi::Function::New<counters>(env);
  exports["reset"] = Napi::Function::New<reset>(env);
  exports["set"] = Napi::Function::New<set>(env);
  exports["owns"] = Napi::Function::New<owns>(env);
  return exports;
}

NODE_API_MODULE(softmetal, initialize)

}  // namespace
