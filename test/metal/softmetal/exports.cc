// What the tests call by dlsym: C functions with plain arguments.
#include "exports.h"

#include <cstdlib>

#include "ledger.h"
#include "settings.h"

namespace softmetal {
bool settle();
bool ownsAddress(const void* address);
}  // namespace softmetal

namespace {

void report(const std::map<std::string, int64_t>& entries, SoftmetalEntry each, void* context) {
  for (const auto& [name, value] : entries) each(name.c_str(), value, context);
}

}  // namespace

int softmetal_ledger(SoftmetalEntry each, void* context) {
  const bool settled = softmetal::settle();
  report(softmetal::living(), each, context);
  return settled ? 1 : 0;
}

void softmetal_counters(SoftmetalEntry each, void* context) { report(softmetal::counters(), each, context); }

void softmetal_reset(void) {
  softmetal::resetCounters();
  softmetal::resetSettings();
}

int softmetal_set(const char* name, const char* value) { return softmetal::set(name, value) ? 1 : 0; }

int softmetal_owns(const void* address) { return softmetal::ownsAddress(address) ? 1 : 0; }
