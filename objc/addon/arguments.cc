#include "arguments.h"

#include <string>

namespace covarium::addon {

double numberAt(const Napi::CallbackInfo& info, size_t index) { return info[index].As<Napi::Number>().DoubleValue(); }
bool booleanAt(const Napi::CallbackInfo& info, size_t index) { return info[index].As<Napi::Boolean>().Value(); }

size_t sizeAt(const Napi::CallbackInfo& info, size_t index) {
  const double value = numberAt(info, index);
  if (!(value >= 1 && value <= 9007199254740992.0))
    throw Failure("ERR_SHAPE", "A dimension is (" + std::to_string(value) + ").");
  return static_cast<size_t>(value);
}

FactorOn factorOnAt(const Napi::CallbackInfo& info, size_t index) {
  const std::string where = info[index].As<Napi::String>();
  if (where == "auto") return FactorOn::automatic;
  if (where == "cpu") return FactorOn::cpu;
  if (where == "gpu") return FactorOn::gpu;
  if (where == "mps") return FactorOn::mps;
  throw Failure("ERR_INVALID_ARGUMENT", "Factor is made at (" + where + "), which is no place for it.");
}

NormalCounter counterAt(const Napi::CallbackInfo& info, size_t index) {
  napi_typedarray_type type;
  size_t length;
  void* data;
  if (napi_get_typedarray_info(info.Env(), info[index], &type, &length, &data, nullptr, nullptr) != napi_ok ||
      type != napi_uint32_array || length != 6) {
    throw Failure("ERR_INVALID_ARGUMENT", "Counter is not a Uint32Array of six words.");
  }
  const auto* words = static_cast<const uint32_t*>(data);
  const auto join = [&](size_t i) { return words[i] | (uint64_t{words[i + 1]} << 32); };
  return {join(0), join(2), join(4)};
}

Size3 sizeTripleAt(const Napi::CallbackInfo& info, size_t index) {
  const auto array = info[index].As<Napi::Array>();
  Size3 size = {1, 1, 1};
  for (uint32_t i = 0; i < array.Length() && i < 3; ++i) {
    const double value = array.Get(i).As<Napi::Number>().DoubleValue();
    if (!(value >= 0 && value <= 4294967295.0))
      throw Failure("ERR_OUT_OF_RANGE", "A grid has (" + std::to_string(value) + ") threads.");
    size[i] = static_cast<uint32_t>(value);
  }
  return size;
}

void requireLength(const Operand& operand, size_t length) {
  if (operand.length != length) {
    throw Failure("ERR_SHAPE", "Operand has (" + std::to_string(operand.length) + ") elements, not (" +
                                   std::to_string(length) + ").");
  }
}

void requireLength(const Operand& operand, size_t rows, size_t columns) {
  size_t length;
  if (__builtin_mul_overflow(rows, columns, &length))
    throw Failure("ERR_TOO_LARGE", "A shape is beyond 2^64 elements.");
  requireLength(operand, length);
}

void requireSquare(const Operand& operand, size_t n) {
  if (n > 0xffffffffu) throw Failure("ERR_TOO_LARGE", "Dimension (" + std::to_string(n) + ") is beyond 2^32.");
  requireLength(operand, n * n);
}

size_t requireSquares(const Operand& operand, size_t n) {
  if (n > 0xffffffffu) throw Failure("ERR_TOO_LARGE", "Dimension (" + std::to_string(n) + ") is beyond 2^32.");
  requireRows(operand, n * n);
  return operand.length / (n * n);
}

// Whole rows of n.
void requireRows(const Operand& operand, size_t n) {
  if (n == 0 || operand.length % n != 0) {
    throw Failure("ERR_SHAPE", "Operand of (" + std::to_string(operand.length) + ") elements is not of rows of (" +
                                   std::to_string(n) + ").");
  }
}

void requireSameType(std::initializer_list<const Operand*> operands) {
  for (const Operand* operand : operands) {
    if (operand->dtype != (*operands.begin())->dtype)
      throw Failure("ERR_UNSUPPORTED_DTYPE", "Operands are of different types.");
  }
}

}  // namespace covarium::addon
