// Findings of a driver program, printed as they occur.
#pragma once

#include <cstdio>

#include "../exports.h"

inline int& failures() {
  static int count = 0;
  return count;
}

inline void check(bool holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  ++failures();
}

inline void checkNothingLives() {
  const int settled = softmetal_ledger(
      [](const char* name, int64_t count, void*) {
        printf("alive: %s (%lld)\n", name, static_cast<long long>(count));
        ++failures();
      },
      nullptr);
  check(settled == 1, "all queues end their work");
}
