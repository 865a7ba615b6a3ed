// Runs PTX, in which the CUDA device's kernels are shipped: a warp of 32 threads at a time, each instruction for all
// of its threads.
//
// It is stricter than a GPU. An address must lie in one block of memory and be aligned; a barrier must be reached by
// all threads that still run; threadgroup memory begins with NaN. Groups run from the last to the first, and the
// warps of a group in changing order, each up to the next barrier, so that a missing barrier gives wrong numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ptx {

struct Parameter {
  size_t offset, sizeBytes;
};

struct Code;

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  size_t parameterBytes = 0;
  unsigned mostSharedBytes = 49152;
  std::shared_ptr<const Code> code;
};

// The kernel of this name. Throws std::runtime_error for PTX that this does not support.
Kernel parse(const std::string& text, const std::string& name);

struct Launch {
  unsigned groups[3];
  unsigned threads;  // of a group
  unsigned sharedBytes;
  std::vector<char> parameters;
};

// A block of the GPU's memory, and where its bytes are on the host.
struct Block {
  uint64_t address;
  size_t sizeBytes;
  char* contents;  // null: there is none
};

// The block in which an address lies.
using FindBlock = std::function<Block(uint64_t address)>;

// True once a product on tensor cores has run.
inline bool hasUsedTensorCores = false;

// Throws std::runtime_error for mistakes, including those that a GPU would not find.
void run(const Kernel& kernel, const Launch& launch, const FindBlock& findBlock);

}  // namespace ptx
