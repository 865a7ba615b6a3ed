#pragma once

#include <cstdint>
#include <functional>
#include <vector>

// Appends a library's command to a stream, if there is a context and the addresses belong to the GPU: `run` gets the
// memory at them. `library` is its name in SOFTCUDA_FAULT.
bool enqueue(const char* library, void* stream, const std::vector<uint64_t>& addresses,
             std::function<void(const std::vector<void*>&)> run);
