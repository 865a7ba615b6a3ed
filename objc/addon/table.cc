#include "table.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>

#include "../table/csv.h"
#include "../table/decimal.h"
#include "../table/rows.h"
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
  Reading(Napi::Env env, Napi::Uint8Array bytes, table::CsvLayout layout, Napi::Float64Array values)
      : TableWork(env, {bytes, values}),
        text_(reinterpret_cast<const char*>(bytes.Data())),
        length_(bytes.ByteLength()),
        layout_(std::move(layout)),
        values_(values.Data()) {}

 private:
  void work() override { rows_ = table::readCsv(text_, text_ + length_, layout_, values_); }
  Napi::Value result(Napi::Env env) override {
    Napi::Object object = Napi::Object::New(env);
    object["rows"] = static_cast<double>(rows_.rows);
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
  double* const values_;
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

template <typename Real>
class Interleaving : public TableWork {
 public:
  Interleaving(Napi::Env env, Napi::Array columns, std::vector<const Real*> from, size_t rows,
               Napi::TypedArrayOf<Real> out, size_t at)
      : TableWork(env, {columns, out}), columns_(std::move(from)), rows_(rows), to_(out.Data() + at) {}

 private:
  void work() override {
    table::columnsToRows(columns_.data(), columns_.size(), rows_, to_);
    isAllFinite_ = table::isAllFinite(to_, rows_ * columns_.size());
  }
  Napi::Value result(Napi::Env env) override { return Napi::Boolean::New(env, isAllFinite_); }

  const std::vector<const Real*> columns_;
  const size_t rows_;
  Real* const to_;
  bool isAllFinite_ = false;
};

// In pieces that the cache still holds when they become rows and are looked through.
template <typename Real>
class FileReading : public TableWork {
 public:
  FileReading(Napi::Env env, int descriptor, std::vector<off_t> positions, size_t rows, Napi::TypedArrayOf<Real> out,
              size_t at)
      : TableWork(env, {out}),
        descriptor_(descriptor),
        positions_(std::move(positions)),
        rows_(rows),
        to_(out.Data() + at) {}

 private:
  void work() override {
    constexpr size_t pieceNumbers = (256 << 10) / sizeof(Real);
    const size_t count = positions_.size();
    const size_t pieceRows = std::max<size_t>(1, pieceNumbers / count);
    const std::unique_ptr<Real[]> columns(count > 1 ? new Real[pieceRows * count] : nullptr);
    std::vector<const Real*> from;
    for (size_t i = 0; i < count; ++i) from.push_back(columns.get() + i * pieceRows);
    for (size_t row = 0; row < rows_; row += pieceRows) {
      const size_t rows = std::min(pieceRows, rows_ - row);
      Real* const to = to_ + row * count;
      for (size_t i = 0; i < count; ++i)
        readAll(count > 1 ? columns.get() + i * pieceRows : to, rows * sizeof(Real),
                positions_[i] + static_cast<off_t>(row * sizeof(Real)));
      if (count > 1) table::columnsToRows(from.data(), count, rows, to);
      isAllFinite_ = table::isAllFinite(to, rows * count) && isAllFinite_;
    }
  }
  void readAll(void* to, size_t bytes, off_t from) const {
    for (size_t done = 0; done < bytes;) {
      const ssize_t count =
          pread(descriptor_, static_cast<char*>(to) + done, bytes - done, from + static_cast<off_t>(done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0)
        throw Failure("ERR_FILE_UNREADABLE", "Byte (" + std::to_string(from + static_cast<off_t>(done)) +
                                                 ") of the file cannot be read (" +
                                                 (count == 0 ? "its end" : strerror(errno)) + ").");
      done += static_cast<size_t>(count);
    }
  }
  Napi::Value result(Napi::Env env) override { return Napi::Boolean::New(env, isAllFinite_); }

  const int descriptor_;
  const std::vector<off_t> positions_;
  const size_t rows_;
  Real* const to_;
  bool isAllFinite_ = true;
};

template <typename Array>
Array arrayOf(const Napi::Value& value, size_t index, napi_typedarray_type type) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
    throw Failure("ERR_INVALID_ARGUMENT", "Argument (" + std::to_string(index) + ") is not an array of its type.");
  return value.As<Array>();
}

template <typename Array>
Array arrayAt(const Napi::CallbackInfo& info, size_t index, napi_typedarray_type type) {
  return arrayOf<Array>(info[index], index, type);
}

bool isDoubleAt(const Napi::CallbackInfo& info, size_t index) {
  return info[index].IsTypedArray() && info[index].As<Napi::TypedArray>().TypedArrayType() == napi_float64_array;
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

void requireRoom(size_t length, double at, size_t rows, size_t columns) {
  if (!(at >= 0 && at <= static_cast<double>(length)) || columns == 0 ||
      rows > (length - static_cast<size_t>(at)) / columns)
    throw Failure("ERR_SHAPE", "Rows (" + std::to_string(rows) + ") of (" + std::to_string(columns) +
                                   ") numbers have no room in (" + std::to_string(length) + ").");
}

template <typename Real>
Napi::Value fileReadingOf(const Napi::CallbackInfo& info, napi_typedarray_type type) {
  const int descriptor = static_cast<int>(numberAt(info, 0));
  if (!info[1].IsArray()) throw Failure("ERR_INVALID_ARGUMENT", "Positions are no array of positions.");
  const auto positions = info[1].As<Napi::Array>();
  const size_t rows = sizeAt(info, 2);
  const auto out = arrayAt<Napi::TypedArrayOf<Real>>(info, 3, type);
  const double at = numberAt(info, 4);
  std::vector<off_t> from;
  for (uint32_t i = 0; i < positions.Length(); ++i) {
    const Napi::Value given = positions.Get(i);
    const double position = given.IsNumber() ? given.As<Napi::Number>().DoubleValue() : -1;
    if (!(position >= 0 && position < 0x1p53))
      throw Failure("ERR_INVALID_ARGUMENT",
                    "Position (" + std::to_string(i) + ") is (" + std::to_string(position) + ").");
    from.push_back(static_cast<off_t>(position));
  }
  requireRoom(out.ElementLength(), at, rows, from.size());
  return (new FileReading<Real>(info.Env(), descriptor, std::move(from), rows, out, static_cast<size_t>(at)))->begin();
}

template <typename Real>
Napi::Value interleavingOf(const Napi::CallbackInfo& info, napi_typedarray_type type) {
  if (!info[0].IsArray()) throw Failure("ERR_INVALID_ARGUMENT", "Columns are no array of columns.");
  const auto columns = info[0].As<Napi::Array>();
  const size_t rows = sizeAt(info, 1);
  const auto out = arrayAt<Napi::TypedArrayOf<Real>>(info, 2, type);
  const double at = numberAt(info, 3);
  std::vector<const Real*> from;
  for (uint32_t i = 0; i < columns.Length(); ++i) {
    const auto column = arrayOf<Napi::TypedArrayOf<Real>>(columns.Get(i), 0, type);
    if (column.ElementLength() < rows)
      throw Failure("ERR_SHAPE", "Column (" + std::to_string(i) + ") has (" + std::to_string(column.ElementLength()) +
                                     ") of (" + std::to_string(rows) + ") numbers.");
    from.push_back(column.Data());
  }
  requireRoom(out.ElementLength(), at, rows, from.size());
  return (new Interleaving<Real>(info.Env(), columns, std::move(from), rows, out, static_cast<size_t>(at)))->begin();
}

template <typename Real>
void deinterleaveOf(const Napi::CallbackInfo& info, napi_typedarray_type type) {
  const auto values = arrayAt<Napi::TypedArrayOf<Real>>(info, 0, type);
  const size_t columns = sizeAt(info, 1);
  auto out = arrayAt<Napi::TypedArrayOf<Real>>(info, 2, type);
  const size_t stride = sizeAt(info, 3);
  const size_t rows = values.ElementLength() / columns;
  if (values.ElementLength() % columns != 0 || out.ElementLength() / columns < stride)
    throw Failure("ERR_SHAPE", "Numbers (" + std::to_string(values.ElementLength()) + ") do not become (" +
                                   std::to_string(columns) + ") columns of (" + std::to_string(stride) +
                                   ") numbers in (" + std::to_string(out.ElementLength()) + ").");
  const double at = numberAt(info, 4);
  requireRoom(stride, at, rows, 1);
  table::rowsToColumns(values.Data(), columns, rows, out.Data() + static_cast<size_t>(at), stride);
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
    const auto values = arrayAt<Napi::Float64Array>(info, 6, napi_float64_array);
    const size_t most = table::mostCsvRows(bytes.ByteLength(), layout.columns);
    if (values.ElementLength() / layout.columns < most)
      throw Failure("ERR_SHAPE", "Text of (" + std::to_string(bytes.ByteLength()) + ") bytes may hold (" +
                                     std::to_string(most) + ") rows, and there is room for (" +
                                     std::to_string(values.ElementLength() / layout.columns) + ").");
    return (new Reading(info.Env(), bytes, std::move(layout), values))->begin();
  });
}

Napi::Value writeCsv(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return isDoubleAt(info, 0) ? writeOf<double>(info, napi_float64_array) : writeOf<float>(info, napi_float32_array);
  });
}

Napi::Value interleave(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return isDoubleAt(info, 2) ? interleavingOf<double>(info, napi_float64_array)
                               : interleavingOf<float>(info, napi_float32_array);
  });
}

Napi::Value deinterleave(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    if (isDoubleAt(info, 0))
      deinterleaveOf<double>(info, napi_float64_array);
    else
      deinterleaveOf<float>(info, napi_float32_array);
    return info.Env().Undefined();
  });
}

Napi::Value readColumns(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return isDoubleAt(info, 3) ? fileReadingOf<double>(info, napi_float64_array)
                               : fileReadingOf<float>(info, napi_float32_array);
  });
}

Napi::Value useLargePages(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    if (!info[0].IsArrayBuffer()) throw Failure("ERR_INVALID_ARGUMENT", "Memory is not an ArrayBuffer.");
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    auto memory = info[0].As<Napi::ArrayBuffer>();
    // From the start of the first page on, where malloc's own header is: of a mapping that begins at a large page, none
    // of that page would be large otherwise.
    constexpr uintptr_t page = 4096;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory.Data()) / page * page;
    const uintptr_t end = (reinterpret_cast<uintptr_t>(memory.Data()) + memory.ByteLength()) / page * page;
    // A refusal leaves the pages as they are.
    if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
    return info.Env().Undefined();
  });
}

Napi::Value adjustExternalMemory(const Napi::CallbackInfo& info) {
  Napi::MemoryManagement::AdjustExternalMemory(info.Env(), info[0].As<Napi::Number>().Int64Value());
  return info.Env().Undefined();
}

}  // namespace covarium::addon
