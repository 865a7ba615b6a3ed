// Loaded before the C library (LD_PRELOAD): the n-th call that concerns a file of ours fails, does half of its work, or
// kills the process. The fault is described in a control file that the test writes and this library maps, so that one
// process can try many faults.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

// test/harness/faults.ts has the same numbers.
enum call { any, opens, writes, syncs, renames, links, modes, closes, removals, readings };
enum action { none, fails, halves, kills };

struct control {
  int32_t call;
  int32_t action;
  int32_t error;
  /** Calls until the fault; 0: none. */
  int32_t countdown;
  int32_t fired;
};

static struct control* control;
static const char* match;

__attribute__((constructor)) static void begin(void) {
  const char* path = getenv("FAULT_CONTROL");
  match = getenv("FAULT_PATH");
  if (path == NULL || match == NULL) return;
  // Calls openat(), because our own open() reads `control`.
  int file = openat(AT_FDCWD, path, O_RDWR);
  void* memory = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) control = memory;
}

static enum action faultOf(enum call call, const char* path) {
  if (control == NULL || path == NULL || strstr(path, match) == NULL) return none;
  if (control->countdown <= 0 || (control->call != any && control->call != (int32_t)call)) return none;
  if (__atomic_sub_fetch(&control->countdown, 1, __ATOMIC_SEQ_CST) != 0) return none;
  control->fired = 1;
  if (control->action == kills) kill(getpid(), SIGKILL);
  errno = control->error;
  return control->action;
}

static enum action faultOfFile(enum call call, int file) {
  if (control == NULL || control->countdown <= 0) return none;
  char link[32], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return none;
  path[length] = '\0';
  return faultOf(call, path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                        \
  int name(const char* path, int flags, ...) {            \
    va_list rest;                                         \
    va_start(rest, flags);                                \
    mode_t mode = (mode_t)va_arg(rest, int);              \
    va_end(rest);                                         \
    if (faultOf(opens, path) == fails) return -1;         \
    return NEXT(name)(path, flags, mode);                 \
  }
OPEN(open)
OPEN(open64)

ssize_t write(int file, const void* bytes, size_t count) {
  enum action action = faultOfFile(writes, file);
  if (action == fails) return -1;
  return NEXT(write)(file, bytes, action == halves ? (count + 1) / 2 : count);
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  enum action action = faultOfFile(writes, file);
  if (action == fails) return -1;
  return NEXT(pwrite64)(file, bytes, action == halves ? (count + 1) / 2 : count, at);
}

ssize_t read(int file, void* bytes, size_t count) {
  enum action action = faultOfFile(readings, file);
  if (action == fails) return -1;
  return NEXT(read)(file, bytes, action == halves ? (count + 1) / 2 : count);
}

ssize_t pread64(int file, void* bytes, size_t count, off64_t at) {
  enum action action = faultOfFile(readings, file);
  if (action == fails) return -1;
  return NEXT(pread64)(file, bytes, action == halves ? (count + 1) / 2 : count, at);
}

int fsync(int file) { return faultOfFile(syncs, file) == fails ? -1 : NEXT(fsync)(file); }
int fdatasync(int file) { return faultOfFile(syncs, file) == fails ? -1 : NEXT(fdatasync)(file); }
int fchmod(int file, mode_t mode) { return faultOfFile(modes, file) == fails ? -1 : NEXT(fchmod)(file, mode); }
int unlink(const char* path) { return faultOf(removals, path) == fails ? -1 : NEXT(unlink)(path); }

// The file is closed in any case, as on Linux.
int close(int file) {
  enum action action = faultOfFile(closes, file);
  int result = NEXT(close)(file);
  if (action != fails) return result;
  errno = control->error;
  return -1;
}

int rename(const char* from, const char* to) {
  return faultOf(renames, from) == fails ? -1 : NEXT(rename)(from, to);
}

int link(const char* from, const char* to) { return faultOf(links, from) == fails ? -1 : NEXT(link)(from, to); }
