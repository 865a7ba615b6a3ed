#include "child.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace softmetal {

namespace {

// The folder of the package: the library lies in build-soft*/ of it.
std::string packageFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&runScript), &info) == 0) return ".";
  const std::string path = info.dli_fname;
  const size_t file = path.rfind('/');
  if (file == std::string::npos) return ".";
  const size_t folder = path.rfind('/', file - 1);
  return folder == std::string::npos ? "." : path.substr(0, folder);
}

// The Node that this process runs in; in a driver program, the Node in PATH.
std::string node() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  const std::string own(path, length < 0 ? 0 : static_cast<size_t>(length));
  return own.size() > 5 && own.compare(own.size() - 5, 5, "/node") == 0 ? own : "node";
}

// The command that runs a script. test/run.ts has compiled it, which saves most of the start time.
std::vector<std::string> command(const std::string& script) {
  const char* compiled = getenv("COVARIUM_COMPILED_TESTS");
  if (compiled == nullptr || *compiled == 0) return {node(), "--import", "tsx", script + ".ts"};
  return {node(), std::string(compiled) + "/" + script + ".js"};
}

// The environment without the sanitizer's runtime, which is for this process alone: leaks of a compiler are not
// tested.
std::vector<char*> environment() {
  std::vector<char*> kept;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (strncmp(*entry, "LD_PRELOAD=", 11) != 0) kept.push_back(*entry);
  kept.push_back(nullptr);
  return kept;
}

std::string readAll(int file) {
  std::string all;
  char piece[65536];
  for (ssize_t length; (length = read(file, piece, sizeof piece)) != 0;) {
    if (length < 0 && errno != EINTR) break;
    if (length > 0) all.append(piece, static_cast<size_t>(length));
  }
  return all;
}

}  // namespace

ChildOutcome runScript(const std::string& script, const std::vector<std::string>& arguments, const std::string& input) {
  FILE* text = tmpfile();  // a pipe would have to be written while the answer is read
  if (text == nullptr) return {-1, "no temporary file can be made"};
  fwrite(input.data(), 1, input.size(), text);
  fflush(text);
  lseek(fileno(text), 0, SEEK_SET);
  int answer[2];
  if (pipe2(answer, O_CLOEXEC) != 0) {
    fclose(text);
    return {-1, "no pipe can be made"};
  }
  const std::string folder = packageFolder();
  std::vector<std::string> words = command("test/metal/softmetal/" + script);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_adddup2(&actions, fileno(text), 0);
  posix_spawn_file_actions_adddup2(&actions, answer[1], 1);
  pid_t child;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environment().data());
  posix_spawn_file_actions_destroy(&actions);
  close(answer[1]);
  fclose(text);
  ChildOutcome outcome{-1, failed == 0 ? readAll(answer[0]) : strerror(failed)};
  close(answer[0]);
  int status = 0;
  while (failed == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (failed == 0 && WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

}  // namespace softmetal
