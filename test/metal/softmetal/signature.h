// The signatures of the kernels in a text of Metal Shading Language, as a compiler would report them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace softmetal {

struct Member {
  std::string name;
  size_t offsetBytes;
};

struct Argument {
  enum class Kind { buffer, constant, threadgroup, texture, sampler, place } kind;
  std::string name;
  int index;                                 // of its attribute; -1 for a thread's place
  bool readOnly;                             // a constant one, a device pointer to const, a texture not written
  size_t dataBytes = 4, alignmentBytes = 4;  // of what a pointer points to
  std::vector<Member> members = {};          // of a struct
};

struct Signature {
  std::string name;
  std::vector<Argument> arguments;
  size_t threadgroupBytes = 0;  // declared inside of the kernel
};

struct FunctionConstant {
  std::string name;
  unsigned type;  // MTLDataType
  unsigned index;
  bool required;
};

// For a text whose kernels are known already; without sizes.
std::vector<Signature> signaturesOf(const std::string& source);

}  // namespace softmetal
