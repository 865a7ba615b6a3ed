// The C functions of a covarium.node with software Metal inside; hooks.cc finds them by name.
#pragma once

#include <cstdint>

#define SOFTMETAL_EXPORT extern "C" __attribute__((visibility("default")))

typedef void (*SoftmetalEntry)(const char* name, int64_t value, void* context);

// Living objects by Apple's class name, after all that is committed has run; 0 where that takes too long.
SOFTMETAL_EXPORT int softmetal_ledger(SoftmetalEntry each, void* context);
SOFTMETAL_EXPORT void softmetal_counters(SoftmetalEntry each, void* context);
// Counters to zero, settings to what the environment says.
SOFTMETAL_EXPORT void softmetal_reset(void);
// 0 where there is no such setting.
SOFTMETAL_EXPORT int softmetal_set(const char* name, const char* value);
// Whether the address lies in a living MTLBuffer.
SOFTMETAL_EXPORT int softmetal_owns(const void* address);
