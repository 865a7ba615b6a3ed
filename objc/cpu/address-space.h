#pragma once

#include <cstddef>
#include <string>

namespace covarium::cpu {

// What BLAS takes for each thread that calls it. If the system refuses it, OpenBLAS asks again for ever.
constexpr size_t blasBufferBytes = size_t(128) << 20;

// Bytes of address space that this process may still take; the largest number if nothing limits them (RLIMIT_AS:
// `ulimit -v`, which batch systems set).
size_t freeAddressSpace();

// Why the address space does not suffice for `bytes` more, beyond what JavaScript and the results take; empty if it
// does.
std::string lackOfAddressSpace(size_t bytes);

}  // namespace covarium::cpu
