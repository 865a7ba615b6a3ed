// What makes a kernel of msl/ an entry of PTX, with its threads' places. It comes after all texts of msl/, because it
// takes MSL's words back.
#pragma once

#undef inline
#undef kernel
#undef device
#undef constant
#undef thread
#undef threadgroup

extern __attribute__((__shared__, aligned(16))) float groupMemory[];

#define LANE static_cast<uint>(__nvvm_read_ptx_sreg_tid_x())
#define LANES static_cast<uint>(__nvvm_read_ptx_sreg_ntid_x())
#define GROUP static_cast<uint>(__nvvm_read_ptx_sreg_ctaid_x())

#define KERNEL(name, parameters, ...) \
  extern "C" __attribute__((__global__)) void name parameters { msl::name(__VA_ARGS__); }

// The compiler may use only so many registers that `groups` groups of `lanes` threads can share a multiprocessor.
#define CROWDED_KERNEL(lanes, groups, name, parameters, ...)                                                  \
  extern "C" __attribute__((__global__)) __attribute__((launch_bounds(lanes, groups))) void name parameters { \
    msl::name(__VA_ARGS__);                                                                                   \
  }
