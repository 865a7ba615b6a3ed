// What the stand-in knows of its GPUs.
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
  EventState* waits = nullptr;  // for what was recorded last when the wait was given
  uint64_t waitsFor = 0;
};

struct StreamState {
  std::deque<Command> commands;
};

// Of `mapped` the first half is for addresses of the GPU, which nobody can touch, the second for what lies there.
struct Range {
  size_t sizeBytes, halfBytes;
  char* mapped;
};

struct Module {
  std::string text;
  std::map<std::string, ptx::Kernel> kernels;  // that were asked for
};

inline std::mutex mutex;
inline std::map<uint64_t, Range> blocks;  // by address
inline std::set<void*> pinned;
inline std::set<StreamState*> streams;
inline std::set<EventState*> events;
inline std::set<Module*> modules;
inline std::map<int, int> retained;    // devices
inline std::map<void*, int> launches;  // by context
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

// What lies at an address of the GPU, or null.
inline void* contentsAt(uint64_t address, size_t sizeBytes) {
  const auto block = blockOf(address, sizeBytes);
  return block == blocks.end() ? nullptr : reinterpret_cast<void*>(address + block->second.halfBytes);
}
