#include "open-library.h"

#include <dlfcn.h>
#include <sys/statvfs.h>

#include "../failure.h"

namespace covarium::cpu {

void* openLibrary(const std::string& kernel, const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const std::string why = "Kernel (" + kernel + ") can't be loaded: " + dlerror() + ".";
#ifdef ST_NOEXEC
  // Docker mounts --tmpfs like this. The loader's message is the same as for a lack of memory.
  struct statvfs system = {};
  if (statvfs(path.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0)
    throw Failure("ERR_UNSUPPORTED", why + " Its folder is mounted without programs (noexec): mount it with them, or " +
                                         "name another in COVARIUM_CACHE.");
#endif
  throw Failure("ERR_INTERNAL", why);
}

}  // namespace covarium::cpu
