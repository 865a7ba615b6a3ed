#include "environment.h"

#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "device.h"

namespace covarium::addon {

struct Environment::Pending {
  Pending(Environment* environment, Napi::Env env, napi_ref encoder, std::vector<Borrowed> borrowed)
      : environment(environment), env(env), encoder(encoder), borrowed(std::move(borrowed)) {}
  Pending(const Pending&) = delete;
  ~Pending() { dropReferences(); }

  void dropReferences() {
    for (const Borrowed& each : borrowed) napi_delete_reference(env, each.reference);
    borrowed.clear();
    if (napi_ref kept = std::exchange(encoder, nullptr)) napi_delete_reference(env, kept);
  }

  Environment* environment;
  napi_env env;
  napi_ref encoder;
  std::vector<Borrowed> borrowed;
  napi_deferred deferred = nullptr;
  Timings timings{};
  std::exception_ptr failure;
};

Environment::Environment(Napi::Env env) {
  const char* forbidden = getenv("COVARIUM_NO_EXTERNAL_BUFFERS");
  externalBuffers = forbidden == nullptr || strcmp(forbidden, "1") != 0;
  makeTimings_ = Napi::Persistent(env.RunScript("(encodeMs, deviceMs, wallMs, factor, ranOn, library) => "
                                                "({ encodeMs, deviceMs, wallMs, factor, ranOn, library })")
                                      .As<Napi::Function>());
  requireOk(napi_create_threadsafe_function(env, nullptr, nullptr, Napi::String::New(env, "covarium commits"), 0, 1,
                                            nullptr, nullptr, this, settle, &completions_));
  napi_unref_threadsafe_function(env, completions_);
  napi_add_env_cleanup_hook(env, end, this);
}

void Environment::end(void* self) {
  auto* environment = static_cast<Environment*>(self);
  for (DeviceObject* device : environment->devices) device->close();
  for (Pending* pending : environment->pending_) pending->dropReferences();
}

Napi::Value Environment::commit(Napi::Env env, const std::shared_ptr<CommandBuffer>& commands, napi_ref encoder,
                                std::vector<Borrowed> borrowed) {
  auto pending = std::make_unique<Pending>(this, env, encoder, std::move(borrowed));
  napi_value promise;
  requireOk(napi_create_promise(env, &pending->deferred, &promise));
  // The first thing that can fail is the thread that the commit needs; then nothing is pending.
  commands->commit(
      [raw = pending.get(), completions = completions_](const Timings& timings, std::exception_ptr failure) {
        raw->timings = timings;
        raw->failure = failure;
        napi_call_threadsafe_function(completions, raw, napi_tsfn_nonblocking);
      });
  if (pending_.empty()) napi_ref_threadsafe_function(env, completions_);
  pending_.insert(pending.release());
  return Napi::Value(env, promise);
}

bool Environment::isInFlight(const void* contents, size_t sizeBytes) const {
  const auto* begin = static_cast<const char*>(contents);
  for (const Pending* pending : pending_) {
    for (const Borrowed& borrowed : pending->borrowed) {
      const char* data = borrowed.operand.address();
      if (data < begin + sizeBytes && begin < data + borrowed.operand.sizeBytes()) return true;
    }
  }
  return false;
}

void Environment::settle(napi_env rawEnv, napi_value, void*, void* data) {
  const std::unique_ptr<Pending> pending(static_cast<Pending*>(data));
  if (rawEnv == nullptr) return;  // the environment is ending: no code is left to receive it
  const Napi::Env env(rawEnv);
  const Napi::HandleScope scope(env);
  Environment& environment = *pending->environment;
  environment.pending_.erase(pending.get());
  if (environment.pending_.empty()) napi_unref_threadsafe_function(env, environment.completions_);
  try {
    if (pending->failure) {
      napi_reject_deferred(env, pending->deferred, errorOf(env, pending->failure).Value());
    } else {
      napi_resolve_deferred(env, pending->deferred, environment.timingsOf(env, pending->timings));
    }
  } catch (const Napi::Error&) {
    // The worker is being terminated: it makes no objects any more, and nobody is left to hear of the commit.
  }
}

Napi::Value Environment::timingsOf(Napi::Env env, const Timings& timings) {
  const auto number = [env](double value) -> napi_value { return Napi::Number::New(env, value); };
  const Napi::Value factor = timings.factor == FactorOn::automatic
                                 ? env.Undefined()
                                 : Napi::String::New(env, timings.factor == FactorOn::gpu ? "gpu" : "cpu");
  const Napi::Value ranOn = !timings.onGpu && !timings.onCpu ? env.Undefined()
                                                             : Napi::String::New(env, !timings.onGpu  ? "cpu"
                                                                                      : timings.onCpu ? "both"
                                                                                                      : "gpu");
  const Napi::Value library = timings.library.empty() ? env.Undefined() : Napi::String::New(env, timings.library);
  return makeTimings_.Value().Call(
      {number(timings.encodeMs), number(timings.deviceMs), number(timings.wallMs), factor, ranOn, library});
}

namespace {

Napi::Error coded(Napi::Env env, const char* code, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, code));
  return error;
}

}  // namespace

void requireOk(napi_status status) {
  if (status != napi_ok)
    throw Failure("ERR_INTERNAL", "Node-API answers with status (" + std::to_string(status) + ").");
}

Napi::Error errorOf(Napi::Env env, std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Failure& failed) {
    Napi::Error error = coded(env, failed.code, failed.what());
    const auto setIfThere = [&](const char* name, int64_t value) {
      if (value >= 0) error.Set(name, Napi::Number::New(env, static_cast<double>(value)));
    };
    setIfThere("matrix", failed.matrix);
    setIfThere("pivot", failed.pivot);
    setIfThere("row", failed.row);
    setIfThere("column", failed.column);
    setIfThere("line", failed.line);
    if (!failed.path.empty()) error.Set("path", Napi::String::New(env, failed.path));
    return error;
  } catch (const std::bad_alloc&) {
    return coded(env, "ERR_OUT_OF_MEMORY", "Memory for the work is not to be had.");
  } catch (const std::system_error& refused) {
    return coded(env, "ERR_OUT_OF_MEMORY",
                 std::string("The system refuses what the work needs (") + refused.what() + ").");
  } catch (const std::exception& other) {
    return coded(env, "ERR_INTERNAL", other.what());
  }
}

}  // namespace covarium::addon
