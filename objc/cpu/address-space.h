#pragma once

#include <cstddef>
#include <string>

namespace covarium::cpu {

// What BLAS takes for each thread that calls it. OpenBLAS asks for it again and again, for ever, where it is refused.
constexpr size_t blasBufferBytes = size_t(128) << 20;

// Bytes of address space that this process may still take; the most where nothing limits them (RLIMIT_AS: `ulimit -v`,
// which batch systems set).
size_t freeAddressSpace();

// Why there is not enough of it for `bytes` more, beside what JavaScript and the results take; empty where there is.
std::string lackOfAddressSpace(size_t bytes);

}  // namespace covarium::cpu
