#pragma once

#include <string>
#include <vector>

#include "../../../objc/cpu/launch.h"

// The kernel of msl/ as the cpu device compiles it.
const covarium::cpu::Kernel& kernelNamed(const std::string& name);

// Runs it over a row of groups.
void runKernel(const covarium::cpu::Kernel& kernel, std::vector<void*> slots, std::vector<char> params, unsigned groups,
               unsigned lanes, unsigned memoryBytes);
