// Calls of LAPACK: their workspace and their results.
#pragma once

#include <string>
#include <vector>

#include "triangular.h"

namespace covarium::cpu {

// If LAPACK refuses an argument, that is a defect of ours. If it does not converge, the caller must know.
inline void requireDone(const char* routine, int info) {
  if (info < 0)
    throw Failure("ERR_INTERNAL", std::string(routine) + " refuses argument (" + std::to_string(-info) + ").");
  if (info > 0)
    throw Failure("ERR_OUT_OF_RANGE",
                  std::string(routine) + " does not converge (info " + std::to_string(info) + "): entries may be NaN.");
}

// The length of a workspace, which a routine returns as a real number: in float32 one beyond 2^24 may have been
// rounded down.
template <typename T>
int workLength(T told) {
  return blasInt(static_cast<size_t>(static_cast<double>(told) * (1 + 1e-6)) + 1);
}

// Calls `routine(work, lwork, info)` twice: for the size of its workspace, and with that.
template <typename T, typename Routine>
void withWork(const char* name, const Routine& routine) {
  T size = 0;
  int query = -1, info = 0;
  routine(&size, &query, &info);
  requireDone(name, info);
  const int length = workLength(size);
  std::vector<T> work(length);
  routine(work.data(), &length, &info);
  requireDone(name, info);
}

}  // namespace covarium::cpu
