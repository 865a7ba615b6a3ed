// A text that is compiled at run time by the compiler of the CPU device (lib/kernel), which a script of this folder
// runs. So a kernel means the same on both devices, and there is only one translator of the language. The sizes in
// the reflection come from the compiled kernel.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <sstream>

#include "child.h"
#include "ledger.h"
#include "settings.h"
#include "shader.h"

namespace softmetal {

namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> linesOf(const std::string& output) {
  std::vector<Fields> lines;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);) {
    Fields fields(1);
    for (const char c : line) {
      if (c == '\t') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    lines.push_back(std::move(fields));
  }
  return lines;
}

Argument argumentOf(const Fields& fields) {
  const std::string& word = fields[1];
  const auto kind = word == "constant"                              ? Argument::Kind::constant
                    : word == "threadgroup"                         ? Argument::Kind::threadgroup
                    : word == "place"                               ? Argument::Kind::place
                    : word == "sampler"                             ? Argument::Kind::sampler
                    : word == "texture" || word == "writtenTexture" ? Argument::Kind::texture
                                                                    : Argument::Kind::buffer;
  return {kind, fields[2], std::stoi(fields[3]), word != "written" && word != "writtenTexture"};
}

unsigned dataTypeOf(const std::string& word) {
  static const std::map<std::string, unsigned> scalars = {{"float", 3},  {"half", 16},   {"int", 29},  {"uint", 33},
                                                          {"short", 37}, {"ushort", 41}, {"char", 45}, {"uchar", 49},
                                                          {"bool", 53},  {"long", 81},   {"ulong", 85}};
  const auto found = scalars.find(word);
  return found == scalars.end() ? 0 : found->second;
}

template <typename T>
std::string numberIn(const std::vector<uint8_t>& bytes) {
  T value;
  memcpy(&value, bytes.data(), sizeof value);
  std::ostringstream text;
  text.precision(17);
  text << +value;
  return text.str();
}

// The value of a function constant as the script reads it.
std::string valueText(unsigned type, const std::vector<uint8_t>& bytes) {
  switch (type) {
    case 3:
      return numberIn<float>(bytes);
    case 29:
      return numberIn<int32_t>(bytes);
    case 33:
      return numberIn<uint32_t>(bytes);
    case 37:
      return numberIn<int16_t>(bytes);
    case 41:
      return numberIn<uint16_t>(bytes);
    case 45:
      return numberIn<int8_t>(bytes);
    case 81:
      return numberIn<int64_t>(bytes) + 'n';
    case 85:
      return numberIn<uint64_t>(bytes) + 'n';
    default:
      return numberIn<uint8_t>(bytes);
  }
}

class RunTimeShader : public Shader {
 public:
  RunTimeShader(const std::string& text, const std::string& answer) : text_(text) {
    for (const Fields& fields : linesOf(answer)) {
      if (fields[0] == "kernel") kernels_.push_back({fields[1], {}});
      if (fields[0] == "argument") kernels_.back().arguments.push_back(argumentOf(fields));
      if (fields[0] == "constant")
        constants_.push_back(
            {fields[1], dataTypeOf(fields[2]), static_cast<unsigned>(std::stoul(fields[3])), fields[4] == "true"});
      if (fields[0] == "library") libraries_[fields[1]] = fields[2];
    }
    if (!constants_.empty()) libraries_.clear();  // those values were not from the caller
  }

  std::vector<Signature> kernels() const override { return kernels_; }
  std::vector<FunctionConstant> constants() const override { return constants_; }

  std::shared_ptr<const Executable> build(Signature& kernel, const ConstantBytes& given,
                                          std::string& reason) const override {
    const auto library = libraries_.find(kernel.name);
    const std::string path = library != libraries_.end() ? library->second : compiled(kernel.name, given, reason);
    return path.empty() ? nullptr : loaded(kernel, path, reason);
  }

 private:
  // The path of a library; empty with the reason if it can't be made.
  std::string compiled(const std::string& kernel, const ConstantBytes& given, std::string& reason) const {
    std::vector<std::string> arguments = {kernel};
    for (const FunctionConstant& constant : constants_)
      if (const auto bytes = given.find(constant.name); bytes != given.end())
        arguments.push_back(constant.name + "=" + valueText(constant.type, bytes->second));
    const ChildOutcome outcome = runScript("compile", arguments, text_);
    if (outcome.status == 0) return linesOf(outcome.output).back()[2];
    reason = outcome.output;
    return "";
  }

  const std::string text_;
  std::vector<Signature> kernels_;
  std::vector<FunctionConstant> constants_;
  std::map<std::string, std::string> libraries_;
};

}  // namespace

std::shared_ptr<const Shader> compileAtRunTime(const std::string& text, std::string& diagnostics) {
  count("compilations");
  const ChildOutcome outcome = runScript("compile", {}, text);
  if (outcome.status == 0) return std::make_shared<RunTimeShader>(text, outcome.output);
  diagnostics = outcome.status == 1 ? outcome.output : "the compiler service does not answer: " + outcome.output;
  return nullptr;
}

}  // namespace softmetal
