// What the stand-in counts: living objects by class, and what has happened, by name. Any thread may call these.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace softmetal {

void born(const char* className);
void died(const char* className);
std::map<std::string, int64_t> living();

void count(const std::string& name, int64_t by = 1);
void countLargest(const std::string& name, int64_t value);
std::map<std::string, int64_t> counters();
void resetCounters();

}  // namespace softmetal
