#include "code-line.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern char** environ;

namespace covarium::cpu {

namespace {

constexpr int mostFrames = 16;

// What a program writes to its standard output; empty if it cannot be started.
std::string outputOf(std::vector<std::string> words) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child;
  const int started = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  char part[4096];
  for (ssize_t count; started == 0 && (count = read(ends[0], part, sizeof part)) > 0;)
    output.append(part, static_cast<size_t>(count));
  close(ends[0]);
  if (started == 0) waitpid(child, nullptr, 0);
  return output;
}

// The compiler writes its own working folder, which is the package's, as "." (lib/kernel/cpu/compiler.ts).
CodeLine userLineIn(const std::string& output) {
  for (size_t begin = 0; begin < output.size();) {
    const size_t end = std::min(output.find('\n', begin), output.size());
    std::string line = output.substr(begin, end - begin);
    begin = end + 1;
    line = line.substr(0, line.find(" (discriminator"));
    const size_t colon = line.rfind(':');
    const unsigned long number = colon == std::string::npos ? 0 : strtoul(line.c_str() + colon + 1, nullptr, 10);
    if (number == 0 || line.rfind("./", 0) != 0 || line.find("./cpu/library/") != std::string::npos) continue;
    size_t first = 2;
    while (line.compare(first, 2, "./") == 0) first += 2;
    return {line.substr(first, colon - first), static_cast<uint32_t>(number)};
  }
  return {};
}

}  // namespace

CodeLine lineOf(const void* place, void* const* frame) {
  Dl_info library;
  if (dladdr(place, &library) == 0 || library.dli_fname == nullptr) return {};
  std::vector<std::string> words = {"addr2line", "-i", "-e", library.dli_fname};
  for (int i = 0; i < mostFrames && place != nullptr; ++i) {
    Dl_info own;
    if (dladdr(place, &own) == 0 || own.dli_fbase != library.dli_fbase) break;
    char offset[32];
    // A return address is behind its call.
    snprintf(offset, sizeof offset, "0x%zx",
             static_cast<size_t>(static_cast<const char*>(place) - static_cast<const char*>(library.dli_fbase) - 1));
    words.emplace_back(offset);
    if (frame == nullptr) break;
    place = frame[1];
    frame = static_cast<void* const*>(frame[0]);
  }
  return userLineIn(outputOf(std::move(words)));
}

}  // namespace covarium::cpu
