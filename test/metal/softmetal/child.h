#pragma once

#include <string>
#include <vector>

namespace softmetal {

struct ChildOutcome {
  int status;  // its exit status; -1 if it can't be started or is killed
  std::string output;
};

// Runs Node with a script of this folder, named without its ending, and `arguments`, `input` on its standard input, and
// waits for its end.
ChildOutcome runScript(const std::string& script, const std::vector<std::string>& arguments, const std::string& input);

}  // namespace softmetal
