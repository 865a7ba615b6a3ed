#pragma once

#include <string>
#include <vector>

#include "../device.h"
#include "kernels.h"
#include "execution.h"

namespace covarium::cpu {

// The kernel of that name; throws ERR_INVALID_ARGUMENT with the names there are.
const Kernel& kernelNamed(const KernelTable& table, const std::string& name);

// Throws a typed error unless operands, grid and threadgroup fit the kernel; sizes of buffers are the kernel's own
// affair.
void checkLaunch(const Kernel& kernel, const std::vector<Operand>& operands, Size3 grid, Size3 threadgroup);

// Runs a kernel over a grid, on all threads of the pool. A map is a plain loop, which the compiler has made vectors of.
// The threads of a reduction's group are fibers on one processor thread, which change at barriers and simdgroup
// functions; a group of one is a plain call.
void launch(const Execution& execution, const Kernel& kernel, const std::vector<Operand>& operands, Size3 grid,
            Size3 threadgroup);

}  // namespace covarium::cpu
