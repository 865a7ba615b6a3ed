// What PTX's instructions compute; each runs for the active threads of a warp.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace ptx {

constexpr unsigned lanes = 32;
using Mask = uint32_t;
constexpr Mask all = ~Mask{0};

// The values of an operand are contiguous; a thread's value is at its index in the warp.
template <typename T>
T get(const char* values, size_t lane) {
  T value;
  memcpy(&value, values + lane * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void set(char* values, size_t lane, T value) {
  memcpy(values + lane * sizeof(T), &value, sizeof(T));
}

template <typename Work>
void forEach(Mask mask, Work work) {
  for (; mask != 0; mask &= mask - 1) work(static_cast<unsigned>(__builtin_ctz(mask)));
}

struct Operation {
  // The first operand is written.
  std::function<void(char* const* operands, Mask mask)> run;
  std::vector<unsigned> sizes;  // bytes of each operand's values
};

// Null if there is no operation of this name.
const Operation* operationNamed(const std::string& name);

}  // namespace ptx
