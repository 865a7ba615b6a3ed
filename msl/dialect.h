// The one word that the preprocessor of msl/cpu can't read: there `threadgroup` is an address space and expands to
// nothing, inside an attribute too.
#pragma once

#ifdef __METAL_VERSION__
#define THREADGROUP_MEMORY(index) [[threadgroup(index)]]
#else
#define THREADGROUP_MEMORY(index)
#endif
