#pragma once

#include <cstddef>
#include <functional>

namespace covarium::cpu {

// A separate stack for one thread of a threadgroup, so that it can wait at a barrier while the others run on the same
// processor thread. resume() runs it until it calls leave() or returns.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void start(std::function<void()> body);
  void resume();
  // Goes back to the caller of resume(); only the body may call it.
  void leave();
  bool finished() const { return finished_; }

 private:
  static void enter();
  void main();
  void forgetFrames();

  static constexpr size_t stackBytes = 256 << 10;  // lib/kernel/cpu/compiler.ts refuses frames that it can't hold
  char* stack_;
  void* pointer_ = nullptr;  // the stack pointer of the side that is not running: the fiber or its resumer
  std::function<void()> body_;
  bool finished_ = true;
  // For the address sanitizer: the resumer's stack, and the fake stacks of either side.
  [[maybe_unused]] const void* outerStack_ = nullptr;
  [[maybe_unused]] size_t outerBytes_ = 0;
  [[maybe_unused]] void* outerFake_ = nullptr;
  [[maybe_unused]] void* innerFake_ = nullptr;
};

}  // namespace covarium::cpu
