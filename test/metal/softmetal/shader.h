// A compiled text of Metal Shading Language: the signatures of its kernels, and how to run them. The package's own
// shaders were compiled when the stand-in was built (objc/cpu/simd/kernels.cc); every other text is compiled at run
// time.
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
  // The kernel, ready to run; writes the compiler's sizes into its signature. Null with the reason if it can't be
  // built.
  virtual std::shared_ptr<const Executable> build(Signature& kernel, const ConstantBytes& constants,
                                                  std::string& reason) const = 0;
};

// Null with the compiler's message, as Metal words it, if the text has a mistake.
std::shared_ptr<const Shader> compileShader(const std::string& text, std::string& diagnostics);
// The same for a text that is not built in.
std::shared_ptr<const Shader> compileAtRunTime(const std::string& text, std::string& diagnostics);

}  // namespace softmetal
