// What every class of the stand-in has: a state in C++, an entry in the ledger, its own reference count, and messages
// about misuse.
#pragma once

#import <Foundation/Foundation.h>

#include <atomic>
#include <string>
#include <utility>

namespace softmetal {

// The class and method that are called, for the sentence that ends the process.
struct Call {
  const char* className;
  SEL selector;
  bool ofClass = false;

  // Prints "softmetal: -[MTLBuffer contents] <what>" and aborts.
  [[noreturn]] void refuse(const std::string& what) const;
  // Refuses if the pretended system is older than macOS `system`, which introduced the selector.
  void needs(int system) const;
  [[noreturn]] void refuse(const char* format, ...) const __attribute__((format(printf, 2, 3)));
};

// The state behind an object, destroyed with the last reference. We count references ourselves, in place of the
// runtime: the thread sanitizer sees this count, and an extra release is found even if the memory still exists.
struct Counted {
  explicit Counted(const char* className);
  virtual ~Counted();
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  const char* const className;
  std::atomic<long> references{1};
};

bool keepsZombies();

template <typename State>
State& used(State* state, const Call& call) {
  if (state == nullptr) call.refuse("is sent to an object that has been released.");
  return *state;
}

inline void retain(Counted* state, const Call& call) { ++used(state, call).references; }
// True if that was the last reference.
inline bool release(Counted* state, const Call& call) { return --used(state, call).references == 0; }

// Shared ownership of an Objective-C object.
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T object) : object_([object retain]) {}
  Ref(const Ref& other) : object_([other.object_ retain]) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nil)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { [object_ release]; }
  // Takes over a reference from the caller.
  static Ref adopt(T object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  T get() const { return object_; }

 private:
  T object_ = nil;
};

// A copied text; the empty Ref if it is nil.
inline Ref<NSString*> copyOf(NSString* text) { return Ref<NSString*>::adopt([text copy]); }
inline std::string textOf(NSString* text) { return text == nil ? "" : [text UTF8String]; }
inline NSString* stringOf(const std::string& text) { return [NSString stringWithUTF8String:text.c_str()]; }
NSError* errorOf(NSString* domain, NSInteger code, const std::string& description);

}  // namespace softmetal

// For the implementation of each class that has its own state_. NAME is Apple's name of the class.
#define SOFT_LIFETIME(NAME)                                                                      \
  -(instancetype)retain {                                                                        \
    softmetal::retain(state_, {NAME, _cmd});                                                     \
    return self;                                                                                 \
  }                                                                                              \
  -(oneway void)release {                                                                        \
    if (softmetal::release(state_, {NAME, _cmd})) [self dealloc];                                \
  }                                                                                              \
  -(NSUInteger)retainCount {                                                                     \
    return static_cast<NSUInteger>(used(state_, softmetal::Call{NAME, _cmd}).references.load()); \
  }                                                                                              \
  -(void)dealloc {                                                                               \
    delete std::exchange(state_, nullptr);                                                       \
    if (!softmetal::keepsZombies()) [super dealloc];                                             \
  }

// For a state with a Ref<NSString*> label.
#define SOFT_LABEL(NAME)                                                        \
  -(NSString*)label {                                                           \
    return used(state_, softmetal::Call{NAME, _cmd}).label.get();               \
  }                                                                             \
  -(void)setLabel : (NSString*)label {                                          \
    used(state_, softmetal::Call{NAME, _cmd}).label = softmetal::copyOf(label); \
  }

// For a field of the state with a plain getter and setter.
#define SOFT_SETTING(NAME, TYPE, GETTER, SETTER, FIELD)      \
  -(TYPE)GETTER {                                            \
    return used(state_, softmetal::Call{NAME, _cmd}).FIELD;  \
  }                                                          \
  -(void)SETTER : (TYPE)value {                              \
    used(state_, softmetal::Call{NAME, _cmd}).FIELD = value; \
  }
