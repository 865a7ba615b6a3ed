// What the stand-in pretends to be, and which faults it makes. Each setting has a name and a text; the environment
// gives the first value when the library is loaded (SOFTMETAL_EXECUTION_WIDTH=31 for executionWidth), and
// softmetal_set changes it later.
#pragma once

#include <cstdint>
#include <string>

namespace softmetal {

// False if there is no setting of that name.
bool set(const std::string& name, const std::string& value);
void resetSettings();
// How often set() or resetSettings() was called.
uint64_t changes();

std::string text(const char* name);
int64_t number(const char* name);
inline bool isOn(const char* name) { return number(name) != 0; }

// Counts a setting down by one: true once, when it reaches 0 from 1. 0 stays 0. So 1 is "the next", n "the n-th from
// now".
bool isTurn(const char* name);

}  // namespace softmetal
