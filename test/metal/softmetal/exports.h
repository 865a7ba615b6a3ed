// The C functions of a covarium.node with software Metal inside; hooks.cc finds them by name.
#pragma once

#include <cstdint>

#define SOFTMETAL_EXPORT extern "C" __attribute__((visibility("default")))

typedef void (*SoftmetalEntry)(const char* name, int64_t value, void* context);

// Living objects by Apple's class name, after all committed work has run; 0 if that takes too long.
SOFTMETAL_EXPORT int softmetal_ledger(SoftmetalEntry each, void* context);
SOFTMETAL_EXPORT void softmetal_counters(SoftmetalEntry each, void* context);
// Resets counters to zero and settings to their values in the environment.
SOFTMETAL_EXPORT void softmetal_reset(void);
// 0 if there is no such setting.
SOFTMETAL_EXPORT int softmetal_set(const char* name, const char* value);
// True if the address lies in a living MTLBuffer.
SOFTMETAL_EXPORT int softmetal_owns(const void* address);
