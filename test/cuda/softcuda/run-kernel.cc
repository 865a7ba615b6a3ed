#include "run-kernel.h"

#include "../../../objc/cpu/float-mode.h"
#include "../../../objc/cpu/processor.h"

using covarium::cpu::Execution;

namespace {

const covarium::cpu::KernelTable& table() { return covarium::cpu::kernels(); }

}  // namespace

const covarium::cpu::Kernel& kernelNamed(const std::string& name) { return covarium::cpu::kernelNamed(table(), name); }

void runKernel(const covarium::cpu::Kernel& kernel, std::vector<void*> slots, std::vector<char> params, unsigned groups,
               unsigned lanes, unsigned memoryBytes) {
  static auto& pool = *new covarium::cpu::Pool(2);  // its threads end with the process
  static const std::atomic<bool> never{false};
  static const covarium::cpu::Blas none{};
  const auto mode = covarium::cpu::FloatModeScope::keeping();  // GPUs keep subnormal numbers
  const Execution execution = {pool, table(), none, never, never};
  slots.push_back(params.data());
  covarium::cpu::launch(execution, kernel, slots, {groups * lanes, 1, 1}, {{lanes, 1, 1}, memoryBytes, 32});
}
