#include "shader.h"

#include "shader-source.h"

namespace softmetal {

namespace {

// The package's own text, and the drivers' texts over the same kernels, which are marked by a comment.
class BuiltInShader : public Shader {
 public:
  explicit BuiltInShader(const std::string& text) : kernels_(builtInKernels(signaturesOf(text))) {}

  std::vector<Signature> kernels() const override { return kernels_; }
  std::shared_ptr<const Executable> build(Signature& kernel, const ConstantBytes&, std::string& reason) const override {
    return builtIn(kernel, reason);
  }

 private:
  std::vector<Signature> kernels_;
};

bool isBuiltIn(const std::string& text) {
  return text == covarium::metal::shaderSource || text.find("// softmetal: kernels of msl/\n") != std::string::npos;
}

}  // namespace

std::shared_ptr<const Shader> compileShader(const std::string& text, std::string& diagnostics) {
  if (isBuiltIn(text)) return std::make_shared<BuiltInShader>(text);
  return compileAtRunTime(text, diagnostics);
}

}  // namespace softmetal
