#pragma once

#include <string>

#include "simd/kernels.h"

namespace covarium::cpu {

// Instruction sets in order of vector width; `none` if it is unknown.
enum class InstructionSet { none, baseline, avx, avx2, avx512 };

struct Processor {
  std::string name;
  InstructionSet instructionSet;
};

const Processor& processor();
const char* nameOf(InstructionSet set);

// The instruction set of the kernels inside a BLAS library, by its name for the core type; `none` if the name is
// unknown.
InstructionSet instructionSetOfCore(const std::string& coreType);

// The kernels for this processor; COVARIUM_INSTRUCTION_SET, avx2 or baseline, chooses a lesser build (the tests
// compare their bits).
const KernelTable& kernels();

// The number of processors that this process may run on, and at most what its container may use.
unsigned processorCount();

}  // namespace covarium::cpu
