#pragma once

#include <memory>

#include "../device.h"
#include "execution.h"
#include "kernel-abi.h"

namespace covarium::cpu {

class CheckedMemory;

// A user's kernel in a shared library that lib/kernel/cpu has compiled; one library may have several kernels.
class LibraryKernel : public covarium::Kernel {
 public:
  // Loads the library. Throws ERR_INTERNAL if it is not one of ours.
  explicit LibraryKernel(const KernelSource& source);
  ~LibraryKernel() override;

  // The bytes of which an element's address must be a multiple, as the compiler says.
  size_t alignmentBytes(size_t parameter) const { return library_->slots[parameter].alignBytes; }
  // True if the threads of a group wait for each other, and loops over them run the group as a whole.
  bool runsGroups() const { return library_->runGroup != nullptr; }
  // Runs the kernel over a grid, on all threads of the pool: row by row in plain loops, which the compiler has
  // vectorized, or, if the threads of a group wait for each other and in check mode, as fibers, group by group.
  // Throws ERR_KERNEL_CHECK with the first error that check mode finds.
  void run(const Execution& execution, const std::vector<KernelOperand>& operands, Size3 grid, Size3 threadgroup) const;

 private:
  void runRows(const Execution& execution, void* const* slots, const GridSize& grid) const;
  void runGroups(const Execution& execution, const std::vector<void*>& slots,
                 const std::vector<KernelOperand>& operands, const GridSize& grid) const;
  void runRow(const Execution& execution, void* const* slots, const GridSize& grid, uint32_t begin, uint32_t end,
              size_t row) const;
  void runChecked(const Execution& execution, std::vector<void*> slots, const std::vector<KernelOperand>& operands,
                  const GridSize& grid, CheckedMemory& checked) const;
  void runGroup(const Execution& execution, void* const* slots, const GridSize& grid, ThreadPlace place) const;

  void* handle_ = nullptr;
  const KernelLibrary* library_ = nullptr;
  bool check_ = false;
};

}  // namespace covarium::cpu
