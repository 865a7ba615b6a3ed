// A user's kernel: Metal Shading Language that is compiled at run time. Part of the contract of a device (device.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "buffer.h"
#include "failure.h"

namespace covarium {

using Size3 = std::array<uint32_t, 3>;

// A parameter of a kernel, in the order of its arguments; built-in thread positions are not counted.
struct KernelParameter {
  // A buffer of the device that is read, or also written; one in constant memory; memory of a threadgroup; a texture
  // that is read, or also written; a sampler.
  enum class Kind : uint8_t { read, written, constant, threadgroup, texture, writtenTexture, sampler } kind;
  std::string name;
  uint32_t index;                                       // in Metal's table of its kind
  size_t sizeBytes;                                     // of one element, or of the struct; 0 if unknown
  std::vector<std::pair<std::string, size_t>> members;  // of a struct, each with its offset in bytes

  bool isTexture() const { return kind == Kind::texture || kind == Kind::writtenTexture; }
  bool isWritten() const { return kind == Kind::written || kind == Kind::writtenTexture; }
};

// What a launch says of a texture: lib/kernel/texture.ts writes it, msl/cpu/library/texture.h reads it.
struct TextureHeader {
  uint64_t texels;  // their address, if the device has one; 0 in what lib/ passes
  uint32_t width, height, slices, component, count, isBgra, pixelFormat, textureType, hasAtomics, unused;

  size_t componentBytes() const { return component <= 3 ? 1 : component <= 8 ? 2 : 4; }
  size_t texelBytes() const { return count * componentBytes(); }
  static TextureHeader of(const std::vector<uint8_t>& bytes) {
    TextureHeader header;
    if (bytes.size() != sizeof header) throw Failure("ERR_INTERNAL", "Texture has no header.");
    memcpy(&header, bytes.data(), sizeof header);
    return header;
  }
};

// The value of a function constant, as bytes. `type` is Metal's name: bool, int, uint, float, short, ushort ...
struct FunctionConstant {
  uint32_t index;
  std::string type;
  std::vector<uint8_t> value;
};

struct KernelSource {
  std::string text;     // complete: included files are part of it, with #line
  std::string name;     // of the function
  std::string library;  // for a device that compiles nothing itself: the path of the compiled text
  bool isForGpu;        // the library is a text for a GPU (PTX)
  std::vector<FunctionConstant> constants;
  std::vector<KernelParameter> parameters;  // as lib/ reads them in the text
  bool check;                               // the library is instrumented
};

// One operand of a launch, for the parameter at its place.
struct KernelOperand {
  Operand operand;             // memory; without a buffer if bytes are given
  std::vector<uint8_t> bytes;  // given with the launch, for what is read only; a texture's header, beside its memory
  size_t threadgroupBytes = 0;
};

// A compiled kernel. Launches in flight share the ownership.
class Kernel {
 public:
  virtual ~Kernel() = default;

  std::string name;
  std::vector<KernelParameter> parameters;  // sizes and members from the compiler; the rest from the text
  uint32_t threadExecutionWidth = 32;       // threads of a simdgroup
  uint32_t maxTotalThreadsPerThreadgroup = 1024;
  size_t staticThreadgroupMemoryBytes = 0;
  size_t maxThreadgroupMemoryBytes = 32768;
};

}  // namespace covarium
