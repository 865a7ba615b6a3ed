#include "least-work.h"

#include <cstdlib>

namespace covarium::gpu {

size_t leastWork(const char* variable) {
  const char* asked = getenv(variable);
  if (asked == nullptr || *asked == '\0') return size_t{1} << 16;
  char* end;
  const auto number = static_cast<size_t>(strtoull(asked, &end, 10));
  if (*end != '\0')
    throw Failure("ERR_OUT_OF_RANGE", std::string(variable) + " (" + std::string(asked) + ") is not a whole number.");
  return number;
}

}  // namespace covarium::gpu
