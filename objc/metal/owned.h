// Ownership in objc/metal, which has no ARC: no other code calls retain, release or autorelease.
#pragma once

#import <Foundation/Foundation.h>

#include <utility>

namespace covarium::metal {

// One reference to an object. Its two verbs say where the reference comes from: adopt for what new..., alloc and copy
// give (+1), retain for the rest (+0).
template <typename T>
class Owned {
 public:
  Owned() = default;
  static Owned adopt(T object) { return Owned(object); }
  static Owned retain(T object) { return Owned(static_cast<T>([object retain])); }
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nil)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { [object_ release]; }

  T get() const { return object_; }
  explicit operator bool() const { return object_ != nil; }

 private:
  explicit Owned(T object) : object_(object) {}
  T object_ = nil;
};

// Each public method of objc/metal opens such a pool. Unlike @autoreleasepool it is drained when an exception passes.
class AutoreleasePool {
 public:
  AutoreleasePool() = default;
  AutoreleasePool(const AutoreleasePool&) = delete;
  ~AutoreleasePool() { [pool_ drain]; }

 private:
  NSAutoreleasePool* pool_ = [[NSAutoreleasePool alloc] init];
};

}  // namespace covarium::metal
