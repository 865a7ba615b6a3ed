// The stand-in's state of its GPUs.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "faults.h"
#include "ptx.h"

enum Result {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialised = 3,
  noDevice = 100,
  invalidContext = 201,
  invalidImage = 200,
  newerText = 222,
  notFound = 500,
  illegalAddress = 700
};

struct EventState {
  bool isTimed, isDone = false;
  void* recordedIn = nullptr;  // the stream; null: never recorded
  uint64_t recording = 0;      // which one
};

struct Command {
  std::function<void()> run;
  EventState* records = nullptr;
  uint64_t recording = 0;
  EventState* waits = nullptr;  // for its last recording at the time of the wait
  uint64_t waitsFor = 0;
};

struct StreamState {
  std::deque<Command> commands;
};

// The first half of `mapped` holds the GPU's addresses, which nobody can touch; the second half holds the data.
struct Range {
  size_t sizeBytes, halfBytes;
  char* mapped;
};

struct Module {
  std::string text;
  std::map<std::string, ptx::Kernel> kernels;  // kernels that were requested
};

inline std::mutex mutex;
inline std::map<uint64_t, Range> blocks;  // by address
inline std::map<void*, size_t> pinned;    // bytes
inline std::set<StreamState*> streams;
inline std::set<EventState*> events;
inline std::set<Module*> modules;
inline std::map<int, int> retained;    // devices
inline std::map<void*, int> launches;  // by context
inline int pinsRefused = 0;
inline bool isReady = false;
inline uint64_t recordings = 0, uploadedBytes = 0, downloadedBytes = 0;
inline thread_local std::vector<void*> contexts;

#define ENTER(name)                                  \
  std::lock_guard<std::mutex> lock(mutex);           \
  if (const int fault = faultOf(name)) return fault; \
  if (!isReady) return notInitialised

#define IN_CONTEXT(name)                       \
  ENTER(name);                                 \
  if (contexts.empty()) return invalidContext; \
  if (spoilt != 0) return spoilt

// The block in which all of these bytes lie, or the end.
inline std::map<uint64_t, Range>::iterator blockOf(uint64_t address, size_t sizeBytes) {
  auto found = blocks.upper_bound(address);
  if (found == blocks.begin()) return blocks.end();
  --found;
  return address + sizeBytes <= found->first + found->second.sizeBytes ? found : blocks.end();
}

// The memory that a GPU reaches at an address.
inline ptx::Block memoryAt(uint64_t address) {
  const auto block = blockOf(address, 1);
  if (block != blocks.end())
    return {block->first, block->second.sizeBytes, reinterpret_cast<char*>(block->first + block->second.halfBytes)};
  auto* const place = reinterpret_cast<char*>(address);
  auto found = pinned.upper_bound(place);
  if (numberOf("SOFTCUDA_INTEGRATED", 0) == 0 || found == pinned.begin()) return {};
  --found;
  auto* const begin = static_cast<char*>(found->first);
  return place < begin + found->second ? ptx::Block{reinterpret_cast<uint64_t>(begin), found->second, begin}
                                       : ptx::Block{};
}

// The data at an address of the GPU, or null.
inline void* contentsAt(uint64_t address, size_t sizeBytes) {
  const ptx::Block block = memoryAt(address);
  const uint64_t from = address - block.address;
  return block.contents == nullptr || sizeBytes > block.sizeBytes - from ? nullptr : block.contents + from;
}
