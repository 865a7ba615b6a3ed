#include "execute.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../../objc/cpu/blas.h"
#include "../../../objc/cpu/launch.h"
#include "../../../objc/cpu/library-kernel.h"
#include "../../../objc/cpu/processor.h"
#include "ledger.h"
#include "settings.h"

namespace softmetal {

namespace {

using namespace covarium;

const cpu::KernelTable& table() {
  static const cpu::KernelTable& found = cpu::kernels();
  return found;
}

// The threads that one queue's thread dispatches with.
cpu::Pool& pool() {
  thread_local std::unique_ptr<cpu::Pool> own;
  const unsigned threads = static_cast<unsigned>(number("threads"));
  if (own == nullptr || own->threads() != threads) own = std::make_unique<cpu::Pool>(threads);
  return *own;
}

cpu::Execution execution() {
  std::string reason;
  static const cpu::Blas none;
  static const std::atomic<bool> wanted{false};
  const cpu::Blas* blas = cpu::blas(table(), reason);
  return {pool(), table(), blas == nullptr ? none : *blas, wanted, wanted};
}

// One of the package's own kernels.
class BuiltIn : public Executable {
 public:
  explicit BuiltIn(const cpu::Kernel& kernel) : Executable(kernel.name), kernel_(kernel) {}

  void run(const Dispatch& dispatch) const override {
    std::vector<void*> slots;
    for (const Bound& argument : dispatch.arguments) slots.push_back(argument.bytes);
    const size_t memoryBytes = dispatch.threadgroupBytes.empty() ? 0 : dispatch.threadgroupBytes[0];
    const auto asked = static_cast<unsigned>(number("simdgroupWidth")), simdWidth = asked != 0 ? asked : width();
    const uint32_t lanes = dispatch.threadgroup[0] * dispatch.threadgroup[1] * dispatch.threadgroup[2];
    if (kernel_.memoryBytes != nullptr) {
      const size_t needed = kernel_.memoryBytes(slots.back(), lanes, simdWidth);
      if (needed > memoryBytes)
        throw Failure("ERR_OUT_OF_RANGE", "its simdgroups of " + std::to_string(simdWidth) + " take (" +
                                              std::to_string(needed) + ") bytes of threadgroup memory, not (" +
                                              std::to_string(memoryBytes) + ").");
    }
    cpu::launch(execution(), kernel_, slots, dispatch.threads, {dispatch.threadgroup, memoryBytes, simdWidth});
  }
  unsigned width() const override { return static_cast<unsigned>(number("executionWidth")); }

 private:
  const cpu::Kernel& kernel_;
};

class Bytes : public Buffer {
 public:
  explicit Bytes(char* bytes, size_t length) : bytes_(bytes), length_(length) {}
  void* contents() const override { return bytes_; }
  size_t sizeBytes() const override { return length_; }

 private:
  char* bytes_;
  size_t length_;
};

// A kernel that was compiled at run time.
class Loaded : public Executable {
 public:
  explicit Loaded(const KernelSource& source) : Executable(source.name), kernel_(source) {}
  const cpu::LibraryKernel& kernel() const { return kernel_; }

  void run(const Dispatch& dispatch) const override {
    std::vector<KernelOperand> operands;
    size_t arguments = 0, groups = 0;
    for (const KernelParameter& parameter : kernel_.parameters) {
      KernelOperand operand = {};
      if (parameter.kind == KernelParameter::Kind::threadgroup) {
        operand.threadgroupBytes = dispatch.threadgroupBytes[groups++];
      } else {
        const Bound& bound = dispatch.arguments[arguments++];
        operand.bytes = bound.header;
        operand.operand = {std::make_shared<Bytes>(bound.bytes, bound.length), 0, bound.length, Dtype::uint8};
      }
      operands.push_back(std::move(operand));
    }
    kernel_.run(execution(), operands, dispatch.threads, dispatch.threadgroup);
  }
  bool isBuiltIn() const override { return false; }
  unsigned width() const override { return kernel_.threadExecutionWidth; }

 private:
  cpu::LibraryKernel kernel_;
};

KernelParameter::Kind kindOf(const Argument& argument) {
  if (argument.kind == Argument::Kind::threadgroup) return KernelParameter::Kind::threadgroup;
  if (argument.kind == Argument::Kind::constant) return KernelParameter::Kind::constant;
  if (argument.kind == Argument::Kind::sampler) return KernelParameter::Kind::sampler;
  if (argument.kind == Argument::Kind::texture)
    return argument.readOnly ? KernelParameter::Kind::texture : KernelParameter::Kind::writtenTexture;
  return argument.readOnly ? KernelParameter::Kind::read : KernelParameter::Kind::written;
}

const cpu::Kernel* kernelNamed(const std::string& name) {
  for (size_t i = 0; i < table().kernelCount; ++i)
    if (name == table().kernels[i].name) return &table().kernels[i];
  return nullptr;
}

// A mismatch between the kernel's text and the CPU's table, which Metal would find when it makes a pipeline: buffers
// 0, 1, ... must come in order, then one constant argument. Empty if they agree.
std::string disagreement(const Signature& signature, const cpu::Kernel& kernel) {
  unsigned buffers = 0, constants = 0, groups = 0;
  for (const Argument& argument : signature.arguments) {
    if (argument.kind == Argument::Kind::place) continue;
    if (argument.kind == Argument::Kind::threadgroup) {
      if (argument.index != static_cast<int>(groups++))
        return "threadgroup argument '" + argument.name + "' has index " + std::to_string(argument.index);
      continue;
    }
    if (argument.index != static_cast<int>(buffers + constants))
      return "argument '" + argument.name + "' has buffer index " + std::to_string(argument.index);
    ++(argument.kind == Argument::Kind::constant ? constants : buffers);
  }
  if (buffers != kernel.buffers || constants != (kernel.paramsBytes == 0 ? 0u : 1u))
    return "the text has " + std::to_string(buffers) + " buffers and " + std::to_string(constants) +
           " constant arguments, the CPU's table " + std::to_string(kernel.buffers) + " buffers";
  if ((groups != 0) != kernel.threadgroupMemory) return "only one of text and table uses threadgroup memory";
  return "";
}

// Simulates a broken kernel: what it has changed becomes zero.
void runBroken(const Dispatch& dispatch) {
  std::vector<std::vector<char>> before;
  for (const Bound& buffer : dispatch.arguments) before.emplace_back(buffer.bytes, buffer.bytes + buffer.length);
  dispatch.kernel->run(dispatch);
  for (size_t i = 0; i < before.size(); ++i) {
    const Bound& buffer = dispatch.arguments[i];
    for (size_t at = 0; at + 4 <= buffer.length; at += 4)
      if (memcmp(buffer.bytes + at, &before[i][at], 4) != 0) memset(buffer.bytes + at, 0, 4);
  }
}

}  // namespace

std::vector<Signature> builtInKernels(const std::vector<Signature>& inText) {
  std::vector<Signature> kernels = inText;
  for (Signature& signature : kernels) {
    const cpu::Kernel* kernel = kernelNamed(signature.name);
    for (Argument& argument : signature.arguments)
      if (kernel != nullptr && argument.kind == Argument::Kind::constant) argument.dataBytes = kernel->paramsBytes;
  }
  return kernels;
}

std::shared_ptr<const Executable> builtIn(const Signature& signature, std::string& reason) {
  const cpu::Kernel* kernel = kernelNamed(signature.name);
  reason = kernel == nullptr ? "the CPU has no kernel of that name" : disagreement(signature, *kernel);
  return reason.empty() ? std::make_shared<BuiltIn>(*kernel) : nullptr;
}

std::shared_ptr<const Executable> loaded(Signature& signature, const std::string& path, std::string& reason) {
  KernelSource source = {};
  source.name = signature.name;
  source.library = path;
  std::vector<Argument*> bound;
  for (Argument& argument : signature.arguments) {
    if (argument.kind == Argument::Kind::place) continue;
    bound.push_back(&argument);
    source.parameters.push_back({kindOf(argument), argument.name, static_cast<uint32_t>(argument.index), 0, {}});
  }
  try {
    const auto made = std::make_shared<Loaded>(source);
    for (size_t i = 0; i < bound.size(); ++i) {
      const KernelParameter& parameter = made->kernel().parameters[i];
      bound[i]->dataBytes = parameter.sizeBytes;
      bound[i]->alignmentBytes = made->kernel().alignmentBytes(i);
      for (const auto& [name, offset] : parameter.members) bound[i]->members.push_back({name, offset});
    }
    signature.threadgroupBytes = made->kernel().staticThreadgroupMemoryBytes;
    return made;
  } catch (const std::exception& failure) {
    reason = failure.what();
    return nullptr;
  }
}

bool execute(const Dispatch& dispatch) {
  count("dispatches");
  count("dispatches " + dispatch.kernel->name);
  try {
    if (dispatch.kernel->name == text("brokenKernel")) {
      runBroken(dispatch);
    } else {
      dispatch.kernel->run(dispatch);
    }
    return true;
  } catch (const std::exception& failure) {
    if (!dispatch.kernel->isBuiltIn()) return false;
    fprintf(stderr, "softmetal: kernel (%s) can't run: %s\n", dispatch.kernel->name.c_str(), failure.what());
    abort();
  }
}

}  // namespace softmetal
