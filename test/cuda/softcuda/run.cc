#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "code.h"
#include "ptx.h"

namespace ptx {
namespace {

// One group of threads.
struct Group {
  const Launch& launch;
  const FindBlock& findBlock;
  std::vector<char> shared;
  std::vector<Block> last;  // the block of each instruction's last access, where the next one probably falls too
};

class Warp {
 public:
  Warp(const Code& code, unsigned first, unsigned threads);
  void begin(const unsigned (&place)[3], const Launch& launch);
  // Runs up to the next barrier, or the end.
  void run(Group& group);
  bool isDone() const { return alive == 0; }

 private:
  char* operand(const Instruction& instruction, size_t index) { return registers.data() + instruction.operands[index]; }
  void execute(const Instruction& instruction, Mask mask, Group& group);
  void multiply(const Instruction& instruction);
  void access(const Instruction& instruction, Mask mask, Group& group);
  template <typename T>
  void copy(const Instruction& instruction, Mask mask, Group& group);
  template <typename T, size_t count>
  void copyEach(const Instruction& instruction, Mask mask, Group& group);
  char* addressed(const Instruction& instruction, unsigned lane, size_t sizeBytes, Group& group);
  bool hasAllOf(Mask wanted, const Instruction& instruction);
  Mask membersOf(const Instruction& instruction);
  void choose();

  const Code& code;
  const unsigned first;
  const Mask existing;
  std::vector<char>& registers;
  std::vector<char> local;
  Mask alive = 0, mask = 0, waiting = 0;
  bool areAllWaiting = false;
  size_t at = 0, next = 0;  // of those of `mask`, and the nearest of the others
  size_t places[lanes] = {};
};

void fill(char* values, unsigned sizeBytes, uint64_t value) {
  for (unsigned lane = 0; lane < lanes; ++lane) memcpy(values + lane * sizeBytes, &value, sizeBytes);
}

Warp::Warp(const Code& code, unsigned first, unsigned threads)
    : code(code),
      first(first),
      existing(threads - first >= lanes ? all : (Mask{1} << (threads - first)) - 1),
      registers(code.registers[first / lanes]),
      local(code.localBytes * lanes, 0) {
  if (!registers.empty()) return;
  registers.resize(code.registerBytes);
  for (const Constant& each : code.constants) fill(registers.data() + each.at, each.sizeBytes, each.value);
}

void Warp::begin(const unsigned (&place)[3], const Launch& launch) {
  for (const auto& [name, at] : code.special) {
    char* values = registers.data() + at;
    if (name == "%tid.x")
      for (unsigned lane = 0; lane < lanes; ++lane) set<uint32_t>(values, lane, first + lane);
    else if (name == "%ntid.x")
      fill(values, 4, launch.threads);
    else if (name == "%nctaid.x")
      fill(values, 4, launch.groups[0]);
    else
      fill(values, 4, place[name.back() - 'x']);
  }
  alive = mask = existing;
  waiting = 0;
  areAllWaiting = false;
  at = 0;
  next = std::numeric_limits<size_t>::max();
}

// The threads that are furthest behind run, so that diverged threads meet again. Threads that wait for others run
// when all of them wait.
void Warp::choose() {
  areAllWaiting = (alive & ~waiting) == 0;
  if (areAllWaiting) waiting = 0;
  const Mask able = alive & ~waiting;
  at = next = std::numeric_limits<size_t>::max();
  forEach(able, [&](unsigned lane) { at = std::min(at, places[lane]); });
  mask = 0;
  forEach(able, [&](unsigned lane) {
    if (places[lane] == at)
      mask |= Mask{1} << lane;
    else
      next = std::min(next, places[lane]);
  });
}

// False if some of these threads have not arrived yet: then the others wait.
bool Warp::hasAllOf(Mask wanted, const Instruction& instruction) {
  // A GPU does not wait for threads that have ended; Metal leaves open what happens.
  if (instruction.kind == Kind::barrier && alive != existing) refuse("is not reached by all: " + instruction.name);
  if ((wanted & alive & ~mask) == 0) return true;
  if (areAllWaiting) refuse("is reached by a part of the threads: " + instruction.name);
  waiting |= mask;
  forEach(mask, [&](unsigned lane) { places[lane] = at; });
  choose();
  return false;
}

// The threads that must have arrived before an instruction can run.
Mask Warp::membersOf(const Instruction& instruction) {
  if (instruction.kind == Kind::barrier || instruction.kind == Kind::matrix) return all;
  const size_t last = instruction.operands.size() - 1;
  return get<uint32_t>(operand(instruction, last), static_cast<unsigned>(__builtin_ctz(mask)));
}

void Warp::run(Group& group) {
  while (alive != 0) {
    if (at >= next) {
      forEach(mask, [&](unsigned lane) { places[lane] = at; });
      choose();
    }
    const Instruction& instruction = code.instructions[at];
    Mask chosen = mask;
    if (instruction.isGuarded) {
      const char* guard = registers.data() + instruction.guard;
      Mask truths = 0;
      for (unsigned lane = 0; lane < lanes; ++lane) truths |= Mask{guard[lane] != 0} << lane;
      chosen &= instruction.isNegated ? ~truths : truths;
    }
    switch (instruction.kind) {
      case Kind::branch:
        if (chosen == mask && next == std::numeric_limits<size_t>::max()) {
          at = instruction.target;
        } else if (chosen == 0) {
          ++at;
        } else {
          forEach(mask, [&](unsigned lane) { places[lane] = (chosen >> lane & 1) != 0 ? instruction.target : at + 1; });
          choose();
        }
        break;
      case Kind::exit:
        alive &= ~chosen;
        forEach(mask & ~chosen, [&](unsigned lane) { places[lane] = at + 1; });
        if (alive != 0) choose();
        break;
      case Kind::barrier:
      case Kind::warpBarrier:
      case Kind::shuffle:
      case Kind::ballot:
      case Kind::matrix:
        if (chosen != mask) refuse("is guarded: " + instruction.name);
        if (!hasAllOf(membersOf(instruction), instruction)) break;
        areAllWaiting = false;
        ++at;
        if (instruction.kind == Kind::barrier) return;
        execute(instruction, mask, group);
        break;
      default:
        if (chosen != 0) execute(instruction, chosen, group);
        ++at;
    }
  }
}

void Warp::execute(const Instruction& instruction, Mask chosen, Group& group) {
  switch (instruction.kind) {
    case Kind::compute: {
      char* operands[5];
      for (size_t i = 0; i < instruction.operands.size(); ++i) operands[i] = operand(instruction, i);
      return instruction.operation->run(operands, chosen);
    }
    case Kind::pack:
    case Kind::unpack: {
      const bool isPack = instruction.kind == Kind::pack;
      const unsigned part = instruction.sizeBytes / 2;
      char* whole = operand(instruction, isPack ? 0 : 2);
      char* parts[] = {operand(instruction, isPack ? 1 : 0), operand(instruction, isPack ? 2 : 1)};
      return forEach(chosen, [&](unsigned lane) {
        for (unsigned i = 0; i < 2; ++i) {
          char *inWhole = whole + (2 * lane + i) * part, *alone = parts[i] + lane * part;
          memcpy(isPack ? inWhole : alone, isPack ? alone : inWhole, part);
        }
      });
    }
    case Kind::warpBarrier:
      return;
    case Kind::activeMask:
      return forEach(chosen, [&](unsigned lane) { set<uint32_t>(operand(instruction, 0), lane, chosen); });
    case Kind::shuffle: {
      char before[4 * lanes];
      memcpy(before, operand(instruction, 1), sizeof(before));
      return forEach(chosen, [&](unsigned lane) {
        set<uint32_t>(operand(instruction, 0), lane,
                      get<uint32_t>(before, get<uint32_t>(operand(instruction, 2), lane) & (lanes - 1)));
      });
    }
    case Kind::ballot: {
      Mask truths = 0;
      forEach(chosen, [&](unsigned lane) {
        if (operand(instruction, 1)[lane] != 0) truths |= Mask{1} << lane;
      });
      return forEach(chosen, [&](unsigned lane) { set<uint32_t>(operand(instruction, 0), lane, truths); });
    }
    case Kind::matrix:
      return multiply(instruction);
    default:
      return access(instruction, chosen, group);
  }
}

// Lane 4 g + t has rows g and g + 8 of a (16 x 4) in its column t, column g of b (4 x 8) in its row t, and of the sums
// rows g and g + 8 in columns 2 t and 2 t + 1.
void Warp::multiply(const Instruction& instruction) {
  static const bool fromLast = getenv("SOFTCUDA_MATRIX") != nullptr;
  hasUsedTensorCores = true;
  double sums[4][lanes];
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      double sum = get<double>(operand(instruction, 7 + i), lane);
      const unsigned row = lane & ~3u, column = (2 * (lane & 3) + i % 2) * 4;
      for (unsigned term = 0; term < 4; ++term) {
        const unsigned k = fromLast ? 3 - term : term;
        sum = std::fma(get<double>(operand(instruction, 4 + i / 2), row + k),
                       get<double>(operand(instruction, 6), column + k), sum);
      }
      sums[i][lane] = sum;
    }
  }
  for (unsigned i = 0; i < 4; ++i) memcpy(operand(instruction, i), sums[i], sizeof(sums[i]));
}

char* Warp::addressed(const Instruction& instruction, unsigned lane, size_t sizeBytes, Group& group) {
  uint64_t address = get<uint64_t>(operand(instruction, instruction.operands.size() - 1), lane) + instruction.offset;
  const auto fail = [&](const char* why) {
    refuse("thread " + std::to_string(first + lane) + ": " + why + " (" + std::to_string(address) +
           "): " + instruction.name);
  };
  if ((address & (sizeBytes - 1)) != 0) fail("an address that is not aligned");
  Space space = instruction.space;
  if (space == Space::generic) {
    space = (address & sharedMark) != 0 ? Space::shared : (address & localMark) != 0 ? Space::local : Space::global;
    address &= ~(sharedMark | localMark);
  }
  if (space == Space::global) {
    Block& last = group.last[&instruction - code.instructions.data()];
    const auto isInside = [&] {
      const uint64_t from = address - last.address;
      return last.contents != nullptr && from < last.sizeBytes && sizeBytes <= last.sizeBytes - from;
    };
    if (!isInside()) last = group.findBlock(address);
    if (!isInside()) fail("an address of no memory");
    return last.contents + (address - last.address);
  }
  const auto within = [&](const char* begin, size_t length) {
    if (address > length || sizeBytes > length - address) fail("an address beyond the memory");
    return const_cast<char*>(begin) + address;
  };
  if (space == Space::shared) return within(group.shared.data(), group.shared.size());
  if (space == Space::param) return within(group.launch.parameters.data(), group.launch.parameters.size());
  return within(local.data() + lane * code.localBytes, code.localBytes);
}

template <typename T>
T changed(const std::string& name, T before, T value, T other) {
  if (name == "add") return static_cast<T>(before + value);
  if (name == "exch") return value;
  if (name == "cas") return before == value ? other : before;
  if (name == "min") return std::min(before, value);
  if (name == "max") return std::max(before, value);
  if constexpr (std::is_integral_v<T>) {
    if (name == "and") return before & value;
    if (name == "or") return before | value;
    if (name == "xor") return before ^ value;
  }
  refuse("atomic " + name);
}

void Warp::access(const Instruction& instruction, Mask chosen, Group& group) {
  const size_t count = instruction.operands.size() - 1;
  const unsigned size = instruction.sizeBytes;
  if (instruction.kind == Kind::atomic) {
    const size_t dot = instruction.name.find('.');
    const std::string name = instruction.name.substr(0, dot), type = instruction.name.substr(dot + 1);
    const auto change = [&](auto zero) {
      using T = decltype(zero);
      forEach(chosen, [&](unsigned lane) {
        char* memory = addressed(instruction, lane, size, group);
        const T before = get<T>(memory, 0), value = get<T>(operand(instruction, 1), lane);
        set<T>(operand(instruction, 0), lane, before);
        set<T>(memory, 0, changed<T>(name, before, value, count == 3 ? get<T>(operand(instruction, 2), lane) : T{0}));
      });
    };
    if (type == "u32" || type == "b32") return change(uint32_t{0});
    if (type == "s32") return change(int32_t{0});
    if (type == "u64" || type == "b64") return change(uint64_t{0});
    if (type == "f32") return change(0.0f);
    refuse("atomic " + instruction.name);
  }
  if (size == 4) return copy<uint32_t>(instruction, chosen, group);
  if (size == 8) return copy<uint64_t>(instruction, chosen, group);
  return size == 2 ? copy<uint16_t>(instruction, chosen, group) : copy<uint8_t>(instruction, chosen, group);
}

template <typename T>
void Warp::copy(const Instruction& instruction, Mask chosen, Group& group) {
  const size_t count = instruction.operands.size() - 1;
  if (count == 1) return copyEach<T, 1>(instruction, chosen, group);
  return count == 2 ? copyEach<T, 2>(instruction, chosen, group) : copyEach<T, 4>(instruction, chosen, group);
}

template <typename T, size_t count>
void Warp::copyEach(const Instruction& instruction, Mask chosen, Group& group) {
  const unsigned held = instruction.registerBytes;
  const bool isStore = instruction.kind == Kind::store, isGlobal = instruction.space == Space::global;
  constexpr size_t sizeBytes = sizeof(T) * count;
  const char* addresses = operand(instruction, count);
  char* values[count];
  for (size_t i = 0; i < count; ++i) values[i] = operand(instruction, i);
  // Most accesses fall into this block; `addressed` finds the block of others, or refuses them.
  const Block& last = group.last[&instruction - code.instructions.data()];
  Block near{0, 0, nullptr};
  if (isGlobal) near = last;
  if (instruction.space == Space::shared) near = {0, group.shared.size(), group.shared.data()};
  if (instruction.space == Space::param)
    near = {0, group.launch.parameters.size(), const_cast<char*>(group.launch.parameters.data())};
  const uint64_t shift = instruction.offset - near.address;
  if (chosen == all && held == sizeof(T) && near.sizeBytes >= sizeBytes) {
    uint64_t furthest = 0, bits = near.address;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const uint64_t from = get<uint64_t>(addresses, lane) + shift;
      furthest = std::max(furthest, from);
      bits |= from;
    }
    // Blocks are aligned, so an address is aligned if its offset in the block is.
    if (furthest <= near.sizeBytes - sizeBytes && (bits & (sizeBytes - 1)) == 0) {
      for (unsigned lane = 0; lane < lanes; ++lane) {
        char* memory = near.contents + get<uint64_t>(addresses, lane) + shift;
        for (size_t i = 0; i < count; ++i) {
          if (isStore)
            set<T>(memory, i, get<T>(values[i], lane));
          else
            set<T>(values[i], lane, get<T>(memory, i));
        }
      }
      return;
    }
  }
  forEach(chosen, [&](unsigned lane) {
    const uint64_t from = get<uint64_t>(addresses, lane) + instruction.offset - near.address;
    char* memory = near.contents + from;
    if (from >= near.sizeBytes || sizeBytes > near.sizeBytes - from || ((from + near.address) & (sizeBytes - 1)) != 0) {
      memory = addressed(instruction, lane, sizeBytes, group);
      if (isGlobal) near = last;
    }
    for (size_t i = 0; i < count; ++i) {
      char* value = values[i] + lane * held;
      if (isStore)
        set<T>(memory, i, get<T>(value, 0));
      else
        set<T>(value, 0, get<T>(memory, i));
      if (!isStore && held > sizeof(T))
        memset(value + sizeof(T), instruction.isSigned && value[sizeof(T) - 1] < 0 ? -1 : 0, held - sizeof(T));
    }
  });
}

}  // namespace

void run(const Kernel& kernel, const Launch& launch, const FindBlock& findBlock) {
  const Code& code = *kernel.code;
  std::vector<std::unique_ptr<Warp>> warps;
  code.registers.resize(std::max<size_t>(code.registers.size(), (launch.threads + lanes - 1) / lanes));
  for (unsigned first = 0; first < launch.threads; first += lanes)
    warps.push_back(std::make_unique<Warp>(code, first, launch.threads));
  Group group{launch, findBlock, {}, std::vector<Block>(code.instructions.size(), Block{0, 0, nullptr})};
  const size_t groups = size_t{launch.groups[0]} * launch.groups[1] * launch.groups[2];
  try {
    for (size_t index = groups; index-- > 0;) {
      const size_t row = index / launch.groups[0];
      const unsigned place[] = {static_cast<unsigned>(index % launch.groups[0]),
                                static_cast<unsigned>(row % launch.groups[1]),
                                static_cast<unsigned>(row / launch.groups[1])};
      group.shared.assign(code.staticSharedBytes + launch.sharedBytes, static_cast<char>(0xff));
      for (auto& warp : warps) warp->begin(place, launch);
      for (bool isForward = false, isOpen = true; isOpen; isForward = !isForward) {
        size_t done = 0;
        for (size_t i = 0; i < warps.size(); ++i) {
          Warp& warp = *warps[isForward ? i : warps.size() - 1 - i];
          warp.run(group);
          if (warp.isDone()) ++done;
        }
        isOpen = done < warps.size();
        if (isOpen && done > 0) refuse("a barrier is not reached by all: warps have ended before it");
      }
    }
  } catch (const std::runtime_error& error) {
    refuse(kernel.name + ": " + error.what());
  }
}

}  // namespace ptx
