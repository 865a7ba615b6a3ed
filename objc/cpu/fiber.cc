#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define COVARIUM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COVARIUM_ASAN 1
#endif
#endif
#ifdef COVARIUM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Saves what the calling convention says a callee keeps, stores the stack pointer in *pointer and continues with the
// one that was there. The only way to do it without a system call for each switch.
extern "C" void covariumSwitchStack(void** pointer) __asm__("covariumSwitchStack");
#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".balign 16\n"
    "covariumSwitchStack:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq (%rdi), %rax\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rax, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n");
static constexpr size_t frameWords = 7, returnWord = 6, topWords = 3;  // a function starts 8 bytes off a multiple of 16
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".balign 16\n"
    "covariumSwitchStack:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  ldr x9, [x0]\n"
    "  mov x10, sp\n"
    "  str x10, [x0]\n"
    "  mov sp, x9\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n");
static constexpr size_t frameWords = 20, returnWord = 11, topWords = 2;
#else
#error "covarium has fibers for x86-64 and arm64"
#endif

namespace covarium::cpu {

namespace {
thread_local Fiber* starting = nullptr;
}

Fiber::Fiber() {
  void* mapped = mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  stack_ = static_cast<char*>(mapped);
}

Fiber::~Fiber() {
  forgetFrames();
  munmap(stack_, stackBytes);
}

// Clears what a body has left in the sanitizer's records, which munmap doesn't clear. A body may wait at a barrier
// for ever, and none returns from its last leave().
void Fiber::forgetFrames() {
#ifdef COVARIUM_ASAN
  __asan_unpoison_memory_region(stack_, stackBytes);
#endif
}

void Fiber::start(std::function<void()> body) {
  forgetFrames();
  body_ = std::move(body);
  finished_ = false;
  // The frame that covariumSwitchStack expects, returning to enter().
  // Stacks that all began at one multiple of their size would share a few lines of the processor's cache.
  const size_t colourBytes = reinterpret_cast<uintptr_t>(stack_) / stackBytes % 32 * 128;
  auto* top = reinterpret_cast<uintptr_t*>(stack_ + stackBytes - colourBytes) - topWords;
  uintptr_t* frame = top - frameWords;
  for (uintptr_t* word = frame; word < top; ++word) *word = 0;
  frame[returnWord] = reinterpret_cast<uintptr_t>(&Fiber::enter);
  pointer_ = frame;
  innerFake_ = nullptr;
}

void Fiber::resume() {
  starting = this;
#ifdef COVARIUM_ASAN
  __sanitizer_start_switch_fiber(&outerFake_, stack_, stackBytes);
#endif
  covariumSwitchStack(&pointer_);
#ifdef COVARIUM_ASAN
  __sanitizer_finish_switch_fiber(outerFake_, nullptr, nullptr);
#endif
}

void Fiber::leave() {
#ifdef COVARIUM_ASAN
  __sanitizer_start_switch_fiber(finished_ ? nullptr : &innerFake_, outerStack_, outerBytes_);
#endif
  covariumSwitchStack(&pointer_);
#ifdef COVARIUM_ASAN
  __sanitizer_finish_switch_fiber(innerFake_, &outerStack_, &outerBytes_);
#endif
}

void Fiber::enter() { starting->main(); }

void Fiber::main() {
#ifdef COVARIUM_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &outerStack_, &outerBytes_);
#endif
  body_();
  finished_ = true;
  leave();  // and never back
}

}  // namespace covarium::cpu
