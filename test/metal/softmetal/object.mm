#include "object.h"

#import <objc/runtime.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "ledger.h"
#include "settings.h"

namespace softmetal {

void Call::refuse(const std::string& what) const {
  fprintf(stderr, "softmetal: %c[%s %s] %s\n", ofClass ? '+' : '-', className, sel_getName(selector), what.c_str());
  fflush(stderr);
  abort();
}

void Call::refuse(const char* format, ...) const {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  refuse(std::string(text));
}

void Call::needs(int system) const {
  const auto pretended = static_cast<int>(number("system"));
  if (pretended < system) refuse("is unknown to macOS (%d); macOS (%d) brought it.", pretended, system);
}

Counted::Counted(const char* className) : className(className) { born(className); }
Counted::~Counted() { died(className); }

bool keepsZombies() {
  static const bool kept = isOn("zombies");
  return kept;
}

NSError* errorOf(NSString* domain, NSInteger code, const std::string& description) {
  return [NSError
      errorWithDomain:domain
                 code:code
             userInfo:[NSDictionary dictionaryWithObject:stringOf(description) forKey:NSLocalizedDescriptionKey]];
}

}  // namespace softmetal
