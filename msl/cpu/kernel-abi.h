// The interface between the CPU device and a library of users' kernels, which is compiled at run time
// (lib/kernel/cpu). It has plain structs, because the two may be built by different compilers.
#pragma once

#if !defined(COVARIUM_HAS_TYPES)  // a user's kernel brings its own (library/wrapper.h)
#include <cstdint>
#endif

#include "threadgroup.h"

namespace covarium {

constexpr uint32_t kernelAbi = 6;

// The most threads of a group, and of a grid in x if its groups run as a whole: no position there wraps.
constexpr uint32_t mostThreads = 1024, mostGroupedThreads = 0xFFFFFFFF - mostThreads;

// A place of the user's text: its line, and in the low bits its column, if the compiler knows it.
constexpr unsigned columnBits = 11;

// What is the same for all threads of a launch.
struct GridSize {
  uint32_t threads[3];       // of the grid
  uint32_t groupThreads[3];  // of a threadgroup; those at the far edges may have fewer
  uint32_t groups[3];
  uint32_t simdWidth;
  const uint64_t* slotBytes;  // of each slot's memory
};

// One thread of a threadgroup.
struct ThreadPlace {
  uint32_t group[3];      // the threadgroup's position in the grid
  uint32_t groupSize[3];  // its threads
  uint32_t inGroup[3];    // the thread's position in it
  uint32_t index;         // the same as one number, x first
};

// An access in check mode: bytes at an address, and the frame of the function that makes it.
struct KernelAccess {
  const void* address;
  uint64_t bytes;
  bool isWrite;
  const void* place;  // in the library's code
  void* const* frame;
};

// An index beyond an array, with the compiler's words for its type.
struct KernelOverrun {
  int64_t index;
  const char* type;
  const char* file;
  uint32_t line;
  const void* place;
  void* const* frame;
};

// A call or a loop that a thread is in, if threads exchange in its text. It lives on the thread's stack.
struct KernelFrame {
  uint32_t place;  // in the text: of two in one function, the first has the smaller
  uint32_t pass;   // of a loop
  uint32_t depth;
  const KernelFrame* outer;
};

// What the kernel asks of the device while it runs. `file` and `place` are of the user's text.
struct KernelHost {
  SimdLanes (*exchange)(uint64_t bits, const char* file, uint32_t place);
  unsigned (*lane)();
  // The innermost frame of this thread, which exchanges only with threads in the same frames.
  const KernelFrame** (*path)();
  void (*barrier)(const char* file, uint32_t place);
  // How many runs are cancelled and have not ended, of any kernel: if it is 0, this run is not one of them.
  const uint32_t* cancellations;
  bool (*isCancelled)();
  // Ends this thread's run of the kernel; does not return.
  void (*leave)();
  // Writes a line, without its end, to the process's standard error.
  void (*log)(const char* text, uint64_t bytes);
  // In check mode. These return only if the access may be made.
  void (*access)(const KernelAccess& access);
  // The next accesses of this thread at this address, up to one elsewhere, are atomic.
  void (*atomic)(const volatile void* address);
  void (*overrun)(const KernelOverrun& overrun);
  // Memory for the threadgroup variable `which` of the kernel, apart from all other memory.
  void* (*ownMemory)(uint32_t which, const char* name, uint64_t bytes, uint64_t elementBytes);
};

struct KernelMember {
  const char* name;
  uint32_t offsetBytes;
};

// A buffer or a constant, in the order of the kernel's arguments; threadgroup memory has no members.
struct KernelSlot {
  uint32_t sizeBytes;  // of one element, or of the struct
  uint32_t alignBytes;
  uint32_t memberCount;
  const KernelMember* members;
};

// One kernel of a library.
struct KernelLibrary {
  uint32_t abi;
  const char* name;
  uint32_t slotCount;
  const KernelSlot* slots;
  const uint64_t* staticThreadgroupBytes;
  // Runs threads [begin, end) of one row of the grid; null if threads wait for each other. One of the three is not
  // null.
  void (*runRow)(void* const* slots, const GridSize& grid, uint32_t begin, uint32_t end, uint32_t y, uint32_t z);
  // Runs one thread; null if threads run in rows, or groups as a whole.
  void (*runThread)(void* const* slots, const GridSize& grid, const ThreadPlace& place);
  // Runs all threads of the group at `place`, which wait for each other at barriers; null if threads run one by one.
  void (*runGroup)(void* const* slots, const GridSize& grid, const ThreadPlace& place);
};

}  // namespace covarium

// What a library exports: covariumKernel(host, name); null for a kernel that it does not have.
extern "C" typedef const covarium::KernelLibrary* (*CovariumKernelFunction)(const covarium::KernelHost* host,
                                                                            const char* name);
