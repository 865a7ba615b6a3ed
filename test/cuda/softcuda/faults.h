// Faults that the stand-in is told to make.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

// The error that has broken the context; 0: none.
inline int spoilt = 0;

inline int numberOf(const char* variable, int otherwise) {
  const char* text = getenv(variable);
  return text == nullptr ? otherwise : atoi(text);
}

// The number of a GPU in a list like 6,9; the last is that of all further GPUs.
inline int numberOf(const char* variable, int gpu, int otherwise) {
  const char* text = getenv(variable);
  if (text == nullptr) return otherwise;
  for (const char* comma = strchr(text, ','); gpu > 0 && comma != nullptr; --gpu, comma = strchr(text, ','))
    text = comma + 1;
  return atoi(text);
}

// The error that the call returns in place of its work; 0: none.
inline int faultOf(const char* name) {
  static auto& calls = *new std::map<std::string, int>;
  const int call = ++calls[name];
  const char* text = getenv("SOFTCUDA_FAULT");
  if (text == nullptr) return 0;
  const std::string fault = text, own = name;
  if (fault.compare(0, own.size() + 1, own + ",") != 0) return 0;
  int code = 0, which = 0;
  sscanf(fault.c_str() + own.size() + 1, "%d,%d", &code, &which);
  if (call != which && which != 0) return 0;
  if (code >= 700 && code < 800) spoilt = code;
  return code;
}
