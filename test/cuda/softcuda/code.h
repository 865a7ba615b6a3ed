// A kernel in the form that the stand-in runs: made by parse.cc, run by run.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "operations.h"

namespace ptx {

enum class Kind {
  compute,
  pack,  // a register of its two halves, the lower one first
  unpack,
  load,
  store,
  atomic,
  branch,
  exit,
  barrier,
  warpBarrier,
  shuffle,
  ballot,
  matrix,  // 16 x 8 sums of float64 on tensor cores
  activeMask
};
enum class Space { global, shared, local, param, generic };

struct Instruction {
  Kind kind = Kind::compute;
  const Operation* operation = nullptr;
  std::vector<unsigned> operands;  // places in the registers of a warp
  bool isGuarded = false, isNegated = false;
  unsigned guard = 0;
  size_t target = 0;  // of a branch
  // For an instruction that reads or writes memory: `operands` are the values, then the address.
  Space space = Space::global;
  unsigned sizeBytes = 0, registerBytes = 0;
  bool isSigned = false;
  uint64_t offset = 0;
  std::string name;  // as it is written
};

// Every operand is a register of the warp; registers for constants are filled once.
struct Constant {
  unsigned at, sizeBytes;
  uint64_t value;
};

struct Code {
  std::vector<Instruction> instructions;
  std::vector<Constant> constants;
  size_t registerBytes = 0;
  size_t staticSharedBytes = 0, localBytes = 0;
  // The places of %tid.x, %ntid.x, %ctaid and %nctaid.
  std::map<std::string, unsigned> special;
  // The registers of each warp of a group, kept from launch to launch: kernels run one after the other.
  mutable std::vector<std::vector<char>> registers;
};

// Generic addresses of these spaces have a mark; a real GPU has a window of addresses for each.
constexpr uint64_t sharedMark = uint64_t{1} << 60, localMark = uint64_t{1} << 61;

[[noreturn]] inline void refuse(const std::string& message) { throw std::runtime_error(message); }

}  // namespace ptx
