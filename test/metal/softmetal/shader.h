// What a text of Metal Shading Language has become: the signatures of its kernels, and how to run them. The package's
// own shaders were compiled when the stand-in was built (objc/cpu/simd/kernels.cc); every other text is compiled when
// it comes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "execute.h"
#include "signature.h"

namespace softmetal {

// The bytes of function constants by name.
using ConstantBytes = std::map<std::string, std::vector<uint8_t>>;

class Shader {
 public:
  virtual ~Shader() = default;
  virtual std::vector<Signature> kernels() const = 0;
  virtual std::vector<FunctionConstant> constants() const { return {}; }
  // The kernel, ready to run, and its signature with the sizes that the compiler has given; null with the reason where
  // it can't be built.
  virtual std::shared_ptr<const Executable> build(Signature& kernel, const ConstantBytes& constants,
                                                  std::string& reason) const = 0;
};

// Null with what the compiler says where the text has a mistake, as Metal words it.
std::shared_ptr<const Shader> compileShader(const std::string& text, std::string& diagnostics);
// The same for a text that is not built in.
std::shared_ptr<const Shader> compileAtRunTime(const std::string& text, std::string& diagnostics);

}  // namespace softmetal
