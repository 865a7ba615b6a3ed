#pragma once

#include <napi.h>

#include <exception>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../device.h"

namespace covarium::addon {

class DeviceObject;

// An operand in the host's own memory; its typed array is kept alive by the reference.
struct Borrowed {
  napi_ref reference;
  Operand operand;
};

// What one JavaScript environment (the main thread or a worker) has of us: instance data, so that nothing is shared
// between threads but the code.
//
// Commits end on a thread of their device and are settled on the JavaScript thread through one thread-safe function. It
// keeps the event loop alive only while a commit is pending. When the environment ends, a cleanup hook closes the
// devices first: hooks run last in, first out, and ours came after the function's own, so that no thread calls a
// function that is gone. What has not settled by then never does, and gives back what it held.
class Environment {
 public:
  static Environment& of(Napi::Env env) { return *env.GetInstanceData<Environment>(); }
  explicit Environment(Napi::Env env);

  // A promise that settles when `commands` have run. Until then `encoder` and what is borrowed are kept alive.
  Napi::Value commit(Napi::Env env, const std::shared_ptr<CommandBuffer>& commands, napi_ref encoder,
                     std::vector<Borrowed> borrowed);
  // Whether a commit has borrowed a part of this memory and has not settled.
  bool isInFlight(const void* contents, size_t sizeBytes) const;

  Napi::Value timingsOf(Napi::Env env, const Timings& timings);

  Napi::FunctionReference deviceClass, encoderClass, kernelClass;
  std::set<DeviceObject*> devices;
  // False where the runtime keeps V8's memory in a cage of its own, as Electron does: it says so at the first
  // allocation. COVARIUM_NO_EXTERNAL_BUFFERS=1 is such a runtime.
  bool externalBuffers;

 private:
  struct Pending;
  static void settle(napi_env env, napi_value, void* context, void* data);
  static void end(void* self);

  Napi::FunctionReference makeTimings_;  // an object literal, which V8 makes quicker than three calls from here
  napi_threadsafe_function completions_ = nullptr;
  std::set<Pending*> pending_;  // touched by the JavaScript thread alone
};

// The JavaScript Error of a C++ exception: a Failure with its code and fields, ERR_OUT_OF_MEMORY, or ERR_INTERNAL.
Napi::Error errorOf(Napi::Env env, std::exception_ptr failure);

// Throws unless Node-API did what it was asked to: in a worker that is being terminated it does nothing any more.
void requireOk(napi_status status);

// Runs body; what it throws becomes a JavaScript exception. Every entry point goes through it.
template <typename Body>
auto guarded(Napi::Env env, const Body& body) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw errorOf(env, std::current_exception());
  }
}

}  // namespace covarium::addon
