#include "settings.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "available.h"

namespace softmetal {

namespace {

struct Setting {
  const char *name, *initial;
};

// 0 and the empty text are "off".
constexpr Setting known[] = {
    // The machine
    {"noDevice", "0"},
    {"secondDevice", "0"},  // a second, removable one, listed after the default
    {"lowPower", "0"},
    {"unifiedMemory", "1"},
    {"mpsUnsupported", "0"},
    {"family", "1007"},  // the largest MTLGPUFamilyApple
    {"system", "15"},    // the first number of macOS's version
    {"executionWidth", "32"},
    {"simdgroupWidth", "0"},  // the real width of simdgroups; 0: executionWidth, which some drivers overstate
    {"maximumGroup", "1024"},
    {"recommendedMaxWorkingSetSize", "0"},  // 0: three quarters of what the process may use; -1: 0
    {"maxBufferLength", "0"},               // 0: half of it
    {"threads", "1"},                       // threads that share a dispatch
    // Strictness
    {"poison", "1"},         // fresh buffers and results that beta = 0 overwrites are NaN first
    {"checkContents", "1"},  // -[MTLBuffer contents] of work in flight ends the process
    {"zombies", "0"},        // released objects stay in memory and report when they are used
    // Faults
    {"delayMs", "0"},              // before each command buffer runs
    {"allocationFailsAt", "0"},    // the n-th from now gives nil
    {"allocationFailsAbove", "0"}  // allocations of more bytes give nil
    ,
    {"compileFails", "0"},
    {"libraryRefused", "0"},       // a prebuilt library, as by a system that is older than it
    {"missingFunction", ""},       // a kernel's name
    {"pipelineFails", ""},         // a kernel's name
    {"reflectionFault", ""},       // an argument's name and what is reported wrong: "out:size"
    {"queueFails", "0"},           // newCommandQueue gives nil
    {"commandBufferFails", "0"},   // commandBuffer gives nil
    {"commandBufferError", "2"},   // the MTLCommandBufferError ...
    {"commandBufferErrorAt", "0"}  // ... with which the n-th commit from now ends
    ,
    {"deviceRemoved", "0"},
    {"sideBySide", "0"},      // encoders that share no resource run on threads at once, as on a GPU
    {"errorsStay", "0"},      // after a command buffer that fails, its queue's others are ignored
    {"overlapMs", "0"},       // a command buffer begins on the GPU this long before the previous one ends
    {"choleskyStatus", "0"},  // an MPSMatrixDecompositionStatus other than 0
    {"brokenKernel", ""},     // a kernel's name: what it writes becomes zeros
    {"brokenMps", ""},        // a class, "MPSMatrixSum" or "MPSMatrixSum:nan": wrong results, or NaN
};

std::string environmentName(const char* name) {
  std::string upper = "SOFTMETAL_";
  for (const char* c = name; *c != 0; ++c) {
    if (std::isupper(static_cast<unsigned char>(*c))) upper += '_';
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  }
  return upper;
}

struct Board {
  std::mutex mutex;
  std::map<std::string, std::string> values;
  uint64_t changes = 0;

  Board() { fill(); }
  void fill() {
    for (const Setting& setting : known) {
      const char* given = getenv(environmentName(setting.name).c_str());
      values[setting.name] = given != nullptr ? given : setting.initial;
    }
  }
};

Board& board() {
  static Board* one = new Board;
  return *one;
}

// The environment is read when the library is loaded, not when the first setting is read.
[[maybe_unused]] const bool loaded = (board(), true);

std::string& at(const char* name) {
  const auto entry = board().values.find(name);
  if (entry == board().values.end()) {
    fprintf(stderr, "softmetal: there is no setting (%s).\n", name);
    abort();
  }
  return entry->second;
}

}  // namespace

bool set(const std::string& name, const std::string& value) {
  std::lock_guard<std::mutex> lock(board().mutex);
  const auto entry = board().values.find(name);
  if (entry == board().values.end()) return false;
  entry->second = value;
  ++board().changes;
  return true;
}

void resetSettings() {
  std::lock_guard<std::mutex> lock(board().mutex);
  board().fill();
  ++board().changes;
}

uint64_t changes() {
  std::lock_guard<std::mutex> lock(board().mutex);
  return board().changes;
}

std::string text(const char* name) {
  std::lock_guard<std::mutex> lock(board().mutex);
  return at(name);
}

int64_t number(const char* name) { return strtoll(text(name).c_str(), nullptr, 10); }

bool isTurn(const char* name) {
  std::lock_guard<std::mutex> lock(board().mutex);
  std::string& value = at(name);
  const int64_t left = strtoll(value.c_str(), nullptr, 10);
  if (left > 0) value = std::to_string(left - 1);
  return left == 1;
}

}  // namespace softmetal

bool softmetal_hasSystem(const char* version) {
  const char* number = strpbrk(version, "0123456789");
  return number != nullptr && strtoll(number, nullptr, 10) <= softmetal::number("system");
}
