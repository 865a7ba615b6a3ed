// What every text of msl/ starts from: MSL's words without `metal::`, and arithmetic that a compiler leaves as it is
// written. It comes before all else, so that it holds for the functions of our headers too.
#pragma once

#include <metal_stdlib>

using namespace metal;

#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#ifdef __METAL_VERSION__
#pragma clang fp contract(off)
#endif

// The one word that the preprocessor of msl/cpu can't read: there `threadgroup` is an address space and expands to
// nothing, inside an attribute too.
#ifdef __METAL_VERSION__
#define THREADGROUP_MEMORY(index) [[threadgroup(index)]]
#else
#define THREADGROUP_MEMORY(index)
#endif
