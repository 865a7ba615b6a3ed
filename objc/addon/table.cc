#include "table.h"

#include <cstring>
#include <exception>

#include "../table/csv.h"
#include "../table/decimal.h"
#include "arguments.h"
#include "environment.h"

namespace covarium::addon {

namespace {

// Work on a thread of libuv's pool that settles a promise; the arrays that it reads and writes are kept alive until
// then.
class TableWork : public Napi::AsyncWorker {
 public:
  TableWork(Napi::Env env, std::initializer_list<Napi::Value> arrays)
      : Napi::AsyncWorker(env, "covarium table"), deferred_(Napi::Promise::Deferred::New(env)) {
    for (const Napi::Value& array : arrays) kept_.push_back(Napi::Persistent(array.As<Napi::Object>()));
  }

  // Node deletes it once it has settled.
  Napi::Value begin() {
    const Napi::Promise promise = deferred_.Promise();
    Queue();
    return promise;
  }

 protected:
  virtual void work() = 0;
  virtual Napi::Value result(Napi::Env env) = 0;

 private:
  void Execute() override {
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void OnOK() override {
    if (failure_) return deferred_.Reject(errorOf(Env(), failure_).Value());
    try {
      deferred_.Resolve(result(Env()));
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());  // V8 has no memory for the result
    }
  }

  Napi::Promise::Deferred deferred_;
  std::vector<Napi::ObjectReference> kept_;
  std::exception_ptr failure_;
};

class Reading : public TableWork {
 public:
  Reading(Napi::Env env, Napi::Uint8Array bytes, table::CsvLayout layout)
      : TableWork(env, {bytes}),
        text_(reinterpret_cast<const char*>(bytes.Data())),
        length_(bytes.ByteLength()),
        layout_(std::move(layout)) {}

 private:
  void work() override { rows_ = table::readCsv(text_, text_ + length_, layout_); }
  Napi::Value result(Napi::Env env) override {
    const size_t count = rows_.rows * layout_.columns;
    Napi::Float64Array values = Napi::Float64Array::New(env, count);
    if (count > 0) memcpy(values.Data(), rows_.values.get(), count * sizeof(double));
    Napi::Object object = Napi::Object::New(env);
    object["values"] = values;
    object["dropped"] = static_cast<double>(rows_.dropped);
    object["lines"] = static_cast<double>(rows_.lines);
    object["fault"] = static_cast<double>(rows_.fault);
    object["record"] = static_cast<double>(rows_.record);
    object["field"] = static_cast<double>(rows_.field);
    return object;
  }

  const char* text_;
  const size_t length_;
  const table::CsvLayout layout_;
  table::CsvRows rows_;
};

template <typename Real>
class Writing : public TableWork {
 public:
  Writing(Napi::Env env, Napi::TypedArrayOf<Real> values, size_t columns, Napi::Uint8Array bytes)
      : TableWork(env, {values, bytes}),
        values_(values.Data()),
        rows_(values.ElementLength() / columns),
        columns_(columns),
        text_(reinterpret_cast<char*>(bytes.Data())) {}

 private:
  void work() override { length_ = table::writeCsv(values_, rows_, columns_, text_); }
  Napi::Value result(Napi::Env env) override { return Napi::Number::New(env, static_cast<double>(length_)); }

  const Real* values_;
  const size_t rows_, columns_;
  char* text_;
  size_t length_ = 0;
};

template <typename Array>
Array arrayAt(const Napi::CallbackInfo& info, size_t index, napi_typedarray_type type) {
  if (!info[index].IsTypedArray() || info[index].As<Napi::TypedArray>().TypedArrayType() != type)
    throw Failure("ERR_INVALID_ARGUMENT", "Argument (" + std::to_string(index) + ") is not an array of its type.");
  return info[index].As<Array>();
}

char letterAt(const Napi::CallbackInfo& info, size_t index) { return static_cast<char>(numberAt(info, index)); }

template <typename Real>
Napi::Value writeOf(const Napi::CallbackInfo& info, napi_typedarray_type type) {
  const auto values = arrayAt<Napi::TypedArrayOf<Real>>(info, 0, type);
  const size_t columns = sizeAt(info, 1);
  const auto bytes = arrayAt<Napi::Uint8Array>(info, 2, napi_uint8_array);
  if (values.ElementLength() % columns != 0 ||
      bytes.ByteLength() < values.ElementLength() * (table::maximumDecimalBytes + 1))
    throw Failure("ERR_SHAPE", "Text of (" + std::to_string(values.ElementLength()) + ") numbers has no room in (" +
                                   std::to_string(bytes.ByteLength()) + ") bytes.");
  return (new Writing<Real>(info.Env(), values, columns, bytes))->begin();
}

}  // namespace

Napi::Value readCsv(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto bytes = arrayAt<Napi::Uint8Array>(info, 0, napi_uint8_array);
    const auto places = arrayAt<Napi::Int32Array>(info, 1, napi_int32_array);
    table::CsvLayout layout = {letterAt(info, 3),
                               letterAt(info, 4),
                               booleanAt(info, 5),
                               {places.Data(), places.Data() + places.ElementLength()},
                               sizeAt(info, 2)};
    for (const int32_t place : layout.places) {
      if (place >= 0 && static_cast<size_t>(place) >= layout.columns)
        throw Failure("ERR_SHAPE", "A field becomes column (" + std::to_string(place) + ") of (" +
                                       std::to_string(layout.columns) + ").");
    }
    return (new Reading(info.Env(), bytes, std::move(layout)))->begin();
  });
}

Napi::Value writeCsv(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const bool isDouble =
        info[0].IsTypedArray() && info[0].As<Napi::TypedArray>().TypedArrayType() == napi_float64_array;
    return isDouble ? writeOf<double>(info, napi_float64_array) : writeOf<float>(info, napi_float32_array);
  });
}

}  // namespace covarium::addon
