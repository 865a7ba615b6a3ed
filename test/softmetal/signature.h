// The signatures of the kernels in a text of Metal Shading Language: what a compiler would tell of them.
#pragma once

#include <string>
#include <vector>

namespace softmetal {

struct Argument {
  enum class Kind { buffer, constant, threadgroup, place } kind;
  std::string name;
  int index;      // of its buffer or threadgroup attribute; -1 for a thread's place
  bool readOnly;  // a constant one, or a device pointer to const
};

struct Signature {
  std::string name;
  std::vector<Argument> arguments;
};

std::vector<Signature> signaturesOf(const std::string& source);

}  // namespace softmetal
