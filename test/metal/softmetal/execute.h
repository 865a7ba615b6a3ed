// Runs kernels on the CPU device's launcher; only this file calls objc/cpu's launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "signature.h"

namespace softmetal {

constexpr size_t maximumThreadgroupBytes = 32768;

class Executable;

struct Bound {
  char* bytes;
  size_t length;
  bool readOnly;
  std::vector<uint8_t> header = {};  // of a texture, whose texels the bytes are
};

struct Dispatch {
  std::shared_ptr<const Executable> kernel;
  std::vector<Bound> arguments;          // all but threadgroup memory, in the order of the signature
  std::vector<size_t> threadgroupBytes;  // likewise
  std::array<uint32_t, 3> threads, threadgroup;
};

// A kernel that is ready to run.
class Executable {
 public:
  explicit Executable(std::string name) : name(std::move(name)) {}
  virtual ~Executable() = default;
  // Throws if the kernel can't run.
  virtual void run(const Dispatch& dispatch) const = 0;
  virtual bool isBuiltIn() const { return true; }
  // Threads of a simdgroup.
  virtual unsigned width() const = 0;
  const std::string name;
};

// The signatures of a text's kernels with the sizes of their params, where the CPU's table has them.
std::vector<Signature> builtInKernels(const std::vector<Signature>& inText);
// The package's own kernel of that name; null with the reason if text and table differ.
std::shared_ptr<const Executable> builtIn(const Signature& kernel, std::string& reason);

// A kernel in a library that lib/kernel/cpu has made; its sizes are written into the signature. Null with the reason
// if it can't be loaded.
std::shared_ptr<const Executable> loaded(Signature& kernel, const std::string& path, std::string& reason);

// Runs the kernel to its end on this thread and the `threads` of the settings. False if the kernel never ends, for
// example because its threads wait for each other in vain; a kernel of the package then ends the process.
bool execute(const Dispatch& dispatch);

}  // namespace softmetal
