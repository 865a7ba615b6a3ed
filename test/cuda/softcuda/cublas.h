#pragma once

#include <cstdint>
#include <functional>
#include <vector>

// Appends a command of a library's to a stream, if there is a context, and the addresses are the GPU's: `run` is given
// what lies at them. `library` is what SOFTCUDA_FAULT calls it.
bool enqueue(const char* library, void* stream, const std::vector<uint64_t>& addresses,
             std::function<void(const std::vector<void*>&)> run);
