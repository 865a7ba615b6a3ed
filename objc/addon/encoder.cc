#include "encoder.h"

#include <algorithm>
#include <utility>

#include "arguments.h"
#include "device.h"
#include "environment.h"

namespace covarium::addon {

Napi::Function EncoderObject::define(Napi::Env env) {
  return DefineClass(env, "NativeEncoder",
                     {InstanceMethod<&EncoderObject::fillNormal>("fillNormal"),
                      InstanceMethod<&EncoderObject::requireFinite>("requireFinite"),
                      InstanceMethod<&EncoderObject::requireSymmetric>("requireSymmetric"),
                      InstanceMethod<&EncoderObject::cholesky>("cholesky"),
                      InstanceMethod<&EncoderObject::zeroUpper>("zeroUpper"),
                      InstanceMethod<&EncoderObject::antitranspose>("antitranspose"),
                      InstanceMethod<&EncoderObject::copy>("copy"),
                      InstanceMethod<&EncoderObject::sum>("sum"),
                      InstanceMethod<&EncoderObject::addRow>("addRow"),
                      InstanceMethod<&EncoderObject::scaleColumns>("scaleColumns"),
                      InstanceMethod<&EncoderObject::product>("product"),
                      InstanceMethod<&EncoderObject::triangularProduct>("triangularProduct"),
                      InstanceMethod<&EncoderObject::multiplyColumns>("multiplyColumns"),
                      InstanceMethod<&EncoderObject::triangularSolve>("triangularSolve"),
                      InstanceMethod<&EncoderObject::choleskySolve>("choleskySolve"),
                      InstanceMethod<&EncoderObject::choleskyBatch>("choleskyBatch"),
                      InstanceMethod<&EncoderObject::sampleBatch>("sampleBatch"),
                      InstanceMethod<&EncoderObject::stretchBatch>("stretchBatch"),
                      InstanceMethod<&EncoderObject::logDensityBatch>("logDensityBatch"),
                      InstanceMethod<&EncoderObject::transpose>("transpose"),
                      InstanceMethod<&EncoderObject::symmetricEigen>("symmetricEigen"),
                      InstanceMethod<&EncoderObject::echelon>("echelon"),
                      InstanceMethod<&EncoderObject::lq>("lq"),
                      InstanceMethod<&EncoderObject::svd>("svd"),
                      InstanceMethod<&EncoderObject::pivotedCholesky>("pivotedCholesky"),
                      InstanceMethod<&EncoderObject::lu>("lu"),
                      InstanceMethod<&EncoderObject::luSolve>("luSolve"),
                      InstanceMethod<&EncoderObject::squaredNorms>("squaredNorms"),
                      InstanceMethod<&EncoderObject::distances>("distances"),
                      InstanceMethod<&EncoderObject::findBeyond>("findBeyond"),
                      InstanceMethod<&EncoderObject::normalQuantiles>("normalQuantiles"),
                      InstanceMethod<&EncoderObject::sample>("sample"),
                      InstanceMethod<&EncoderObject::stretchRows>("stretchRows"),
                      InstanceMethod<&EncoderObject::logDensity>("logDensity"),
                      InstanceMethod<&EncoderObject::meanAndCovariance>("meanAndCovariance"),
                      InstanceMethod<&EncoderObject::addMoments>("addMoments"),
                      InstanceMethod<&EncoderObject::addPowers>("addPowers"),
                      InstanceMethod<&EncoderObject::countBetween>("countBetween"),
                      InstanceMethod<&EncoderObject::selectRanks>("selectRanks"),
                      InstanceMethod<&EncoderObject::launch>("launch"),
                      InstanceMethod<&EncoderObject::isBrief>("isBrief"),
                      InstanceMethod<&EncoderObject::commit>("commit"),
                      InstanceMethod<&EncoderObject::commitSync>("commitSync"),
                      InstanceMethod<&EncoderObject::reset>("reset"),
                      InstanceMethod<&EncoderObject::cancel>("cancel")});
}

EncoderObject::EncoderObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<EncoderObject>(info) {
  device_ = DeviceObject::Unwrap(info[0].As<Napi::Object>());
  deviceReference_ = Napi::Persistent(info[0].As<Napi::Object>());
  commands_ = guarded(info.Env(), [&] { return device_->device(info.Env()).commandBuffer(); });
}

EncoderObject::~EncoderObject() { dropReferences(Env()); }

void EncoderObject::dropReferences(Napi::Env env) {
  for (const Borrowed& borrowed : borrowed_) napi_delete_reference(env, borrowed.reference);
  borrowed_.clear();
  elements_ = 0;
  iterates_ = launches_ = false;
}

void EncoderObject::requireBorrowed(Napi::Env env) {
  for (const Borrowed& borrowed : borrowed_) {
    napi_value typedArray;
    size_t length;
    void* data;
    requireOk(napi_get_reference_value(env, borrowed.reference, &typedArray));
    requireOk(napi_get_typedarray_info(env, typedArray, nullptr, &length, &data, nullptr, nullptr));
    const Operand& operand = borrowed.operand;
    if (data != operand.address() || length != operand.length) {
      throw Failure("ERR_CLOSED", "Operand of (" + std::to_string(operand.length) +
                                      ") elements has lost its memory since it was recorded: it has (" +
                                      std::to_string(length) + ").");
    }
  }
}

CommandBuffer& EncoderObject::iterations() {
  iterates_ = true;
  return commands();
}

CommandBuffer& EncoderObject::commands() {
  if (state_ != State::recording)
    throw Failure("ERR_CLOSED", "Commands are committed already (a command buffer commits once).");
  return *commands_;
}

Operand EncoderObject::operandOf(Napi::Env env, napi_value value) {
  Operand operand = device_->operandOf(env, value, borrowed_);
  elements_ += operand.length;
  return operand;
}

Operand EncoderObject::operandAt(const Napi::CallbackInfo& info, size_t index) {
  return operandOf(info.Env(), info[index]);
}

void EncoderObject::fillNormal(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] { commands().fillNormal(operandAt(info, 0), counterAt(info, 1)); });
}

void EncoderObject::requireFinite(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] { commands().requireFinite(operandAt(info, 0), sizeAt(info, 1)); });
}

void EncoderObject::requireSymmetric(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0);
    requireSquare(a, sizeAt(info, 1));
    commands().requireSymmetric(a, sizeAt(info, 1), numberAt(info, 2));
  });
}

void EncoderObject::cholesky(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0);
    requireSquare(a, sizeAt(info, 1));
    commands().cholesky(a, sizeAt(info, 1), factorOnAt(info, 2));
  });
}

void EncoderObject::zeroUpper(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0);
    requireSquare(a, sizeAt(info, 1));
    commands().zeroUpper(a, sizeAt(info, 1));
  });
}

void EncoderObject::antitranspose(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0);
    requireSquare(a, sizeAt(info, 1));
    commands().antitranspose(a, sizeAt(info, 1));
  });
}

void EncoderObject::copy(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand from = operandAt(info, 0), to = operandAt(info, 1);
    requireSameType({&from, &to});
    requireLength(to, from.length);
    commands().copy(from, to);
  });
}

void EncoderObject::sum(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0), b = operandAt(info, 1), out = operandAt(info, 2);
    requireSameType({&a, &b, &out});
    requireLength(b, a.length);
    requireLength(out, a.length);
    commands().sum(a, b, out);
  });
}

void EncoderObject::addRow(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand rows = operandAt(info, 0), row = operandAt(info, 1);
    requireSameType({&rows, &row});
    requireRows(rows, row.length);
    commands().addRow(rows, row, numberAt(info, 2));
  });
}

void EncoderObject::scaleColumns(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand rows = operandAt(info, 0), row = operandAt(info, 1);
    requireSameType({&rows, &row});
    requireRows(rows, row.length);
    commands().scaleColumns(rows, row);
  });
}

void EncoderObject::product(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0), b = operandAt(info, 1), c = operandAt(info, 2);
    requireSameType({&a, &b, &c});
    // 0 rows are legal, and then there is nothing to do.
    const auto count = [&](size_t i) { return numberAt(info, i) == 0 ? 0 : sizeAt(info, i); };
    const ProductShape shape = {count(3),           count(4),          count(5),         booleanAt(info, 6),
                                booleanAt(info, 7), numberAt(info, 8), numberAt(info, 9)};
    requireLength(a, shape.m, shape.k);
    requireLength(b, shape.k, shape.n);
    requireLength(c, shape.m, shape.n);
    if (c.length != 0) commands().product(a, b, c, shape);
  });
}

EncoderObject::FactorAndRows EncoderObject::factorAndRowsAt(const Napi::CallbackInfo& info) {
  const FactorAndRows found = {operandAt(info, 0), operandAt(info, 1), sizeAt(info, 2)};
  requireSameType({&found.factor, &found.rows});
  requireSquare(found.factor, found.n);
  requireRows(found.rows, found.n);
  return found;
}

void EncoderObject::triangularProduct(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const auto [factor, rows, n] = factorAndRowsAt(info);
    commands().triangularProduct(factor, rows, n, booleanAt(info, 3));
  });
}

// As lib/factor/columns.ts counts them.
static size_t columnsLength(size_t n, const Operand& columns) {
  const size_t wide = columnBytes / bytesOf(columns.dtype), blocks = n / wide;
  return wide * wide * (blocks * (blocks + 1) / 2) + (n % wide == 0 ? 0 : wide * n);
}

void EncoderObject::multiplyColumns(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand columns = operandAt(info, 0), start = operandAt(info, 1), z = operandAt(info, 2),
                  out = operandAt(info, 3);
    const size_t n = sizeAt(info, 4);
    requireSameType({&columns, &start, &z, &out});
    requireLength(columns, columnsLength(n, columns));
    if (start.length != 0) requireLength(start, n);
    requireRows(z, n);
    requireLength(out, z.length);
    commands().multiplyColumns(columns, start, z, out, n);
  });
}

void EncoderObject::triangularSolve(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const auto [factor, rows, n] = factorAndRowsAt(info);
    commands().triangularSolve(factor, rows, n, booleanAt(info, 3));
  });
}

void EncoderObject::choleskySolve(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const auto [factor, rows, n] = factorAndRowsAt(info);
    commands().choleskySolve(factor, rows, n);
  });
}

void EncoderObject::choleskyBatch(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand a = operandAt(info, 0);
    const size_t n = sizeAt(info, 1);
    requireSquares(a, n);
    commands().choleskyBatch(a, n, numberAt(info, 2));
  });
}

void EncoderObject::sampleBatch(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand factors = operandAt(info, 0), means = operandAt(info, 1), out = operandAt(info, 2);
    const size_t n = sizeAt(info, 3), count = requireSquares(factors, n);
    requireSameType({&factors, &means, &out});
    requireLength(means, count, n);
    if (count == 0) return requireLength(out, 0);
    requireRows(out, means.length);
    commands().sampleBatch(factors, means, out, n, counterAt(info, 4));
  });
}

void EncoderObject::stretchBatch(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand rows = operandAt(info, 0), locations = operandAt(info, 1);
    const size_t n = sizeAt(info, 2);
    if (locations.dtype != Dtype::float64) throw Failure("ERR_UNSUPPORTED_DTYPE", "Locations are not of float64.");
    requireRows(locations, n);
    if (locations.length == 0) return requireLength(rows, 0);
    requireRows(rows, locations.length);
    commands().stretchBatch(rows, locations, n, numberAt(info, 3), counterAt(info, 4));
  });
}

void EncoderObject::logDensityBatch(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand factors = operandAt(info, 0), means = operandAt(info, 1), rows = operandAt(info, 2),
                  out = operandAt(info, 3);
    const size_t n = sizeAt(info, 4), count = requireSquares(factors, n);
    const Operand constants = operandAt(info, 5);
    requireSameType({&factors, &means, &rows, &out});
    requireLength(means, count, n);
    requireLength(constants, count);
    if (constants.dtype != Dtype::float64) throw Failure("ERR_UNSUPPORTED_DTYPE", "Constants are not of float64.");
    if (count == 0) return requireLength(out, 0);
    requireRows(out, count);
    // Rows of its own for each model, or the same for all.
    if (rows.length != out.length * n) requireLength(rows, out.length / count, n);
    commands().logDensityBatch(factors, means, rows, out, n, constants);
  });
}

void EncoderObject::normalQuantiles(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand values = operandAt(info, 0);
    if (values.dtype != Dtype::float64) throw Failure("ERR_UNSUPPORTED_DTYPE", "Probabilities are not of float64.");
    commands().normalQuantiles(values);
  });
}

void EncoderObject::sample(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand factor = operandAt(info, 0), mean = operandAt(info, 1), out = operandAt(info, 2);
    requireSameType({&factor, &mean, &out});
    requireSquare(factor, mean.length);
    requireRows(out, mean.length);
    commands().sample(factor, mean, out, booleanAt(info, 3), counterAt(info, 4));
  });
}

void EncoderObject::stretchRows(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand rows = operandAt(info, 0), location = operandAt(info, 1);
    const size_t n = sizeAt(info, 2);
    requireRows(rows, n);
    if (location.dtype != Dtype::float64) throw Failure("ERR_UNSUPPORTED_DTYPE", "Location is not of float64.");
    if (location.length != rows.length) requireLength(location, n);
    commands().stretchRows(rows, location, n, numberAt(info, 3), counterAt(info, 4));
  });
}

void EncoderObject::logDensity(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    const Operand factor = operandAt(info, 0), mean = operandAt(info, 1), rows = operandAt(info, 2),
                  out = operandAt(info, 3);
    requireSameType({&factor, &mean, &rows, &out});
    requireSquare(factor, mean.length);
    requireLength(rows, out.length, mean.length);
    commands().logDensity(factor, mean, rows, out, booleanAt(info, 4), numberAt(info, 5));
  });
}

// Commands on so few numbers take a few hundred microseconds at most: eigenvalues and singular values some 20 x
// elements^1.5 operations, a product or a direct decomposition a tenth of that or less. How long a kernel takes nobody
// knows.
Napi::Value EncoderObject::isBrief(const Napi::CallbackInfo& info) {
  const size_t mostElements = iterates_ ? 256 : 16384;
  const bool isBrief = elements_ <= mostElements && !launches_ && state_ == State::recording && commands_->isNext();
  return Napi::Boolean::New(info.Env(), isBrief);
}

Napi::Value EncoderObject::commit(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return guarded(env, [&] {
    commands();
    device_->device(env);
    requireBorrowed(env);
    // This object, and with it the device, stays until the commit has settled, though nobody else may remember it.
    napi_ref self;
    requireOk(napi_create_reference(env, info.This(), 1, &self));
    state_ = State::inFlight;
    return Environment::of(env).commit(env, commands_, self, std::exchange(borrowed_, {}));
  });
}

Napi::Value EncoderObject::commitSync(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return guarded(env, [&]() -> Napi::Value {
    commands();
    device_->device(env);
    requireBorrowed(env);
    state_ = State::ran;
    const Timings timings = commands_->commitAndWait();
    return Environment::of(env).timingsOf(env, timings);
  });
}

void EncoderObject::reset(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    if (state_ == State::inFlight)
      throw Failure("ERR_CLOSED", "Commands are in flight (an encoder is reset after commitSync).");
    // One that has run is empty; what was never committed would hold its buffers until this object is collected.
    if (state_ == State::recording) commands_ = device_->device(info.Env()).commandBuffer();
    dropReferences(info.Env());
    state_ = State::recording;
  });
}

}  // namespace covarium::addon
