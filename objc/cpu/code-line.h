#pragma once

#include <cstdint>
#include <string>

namespace covarium::cpu {

// A line of a kernel's text; without a path if it is unknown.
struct CodeLine {
  std::string path;
  uint32_t line = 0;
};

// The line of the user's text that a place in a library's code was compiled from. If the place is in one of our
// headers, the line that called it. `frame` is the frame of the function that makes the call at `place`. Runs
// addr2line, which comes with the linker that made the library, without a shell.
CodeLine lineOf(const void* place, void* const* frame);

}  // namespace covarium::cpu
