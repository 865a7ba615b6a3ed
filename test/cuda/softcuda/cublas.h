#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

// Appends a command of a library's to a stream, if there is a context, and the addresses are the GPU's; `library` is
// what SOFTCUDA_FAULT calls it.
bool enqueue(const char* library, void* stream, std::initializer_list<uint64_t> addresses, std::function<void()> run);
