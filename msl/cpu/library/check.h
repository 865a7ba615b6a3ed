// Check mode: the compiler's own instrumentation calls these before each access and at each index beyond an array
// (lib/kernel/cpu/compiler.ts has the flags). The host looks at the access and ends the kernel's thread if it is
// wrong. Part of wrapper.h, outside of all namespaces. The functions are private to this library, even if the process
// itself runs under a sanitizer.

#define COVARIUM_HOOK \
  extern "C" __attribute__((visibility("hidden"), noinline, used, no_sanitize("address"), no_sanitize("undefined")))

#define COVARIUM_ACCESS(name, isWrite, bytes)                                                      \
  COVARIUM_HOOK void name(void* address) {                                                         \
    covarium::kernelHost->access({address, bytes, isWrite, __builtin_return_address(0),            \
                                  *static_cast<void* const* const*>(__builtin_frame_address(0))}); \
  }
#define COVARIUM_ACCESSES(bytes)                              \
  COVARIUM_ACCESS(__asan_load##bytes, false, bytes)           \
  COVARIUM_ACCESS(__asan_load##bytes##_noabort, false, bytes) \
  COVARIUM_ACCESS(__asan_store##bytes, true, bytes)           \
  COVARIUM_ACCESS(__asan_store##bytes##_noabort, true, bytes)
COVARIUM_ACCESSES(1)
COVARIUM_ACCESSES(2)
COVARIUM_ACCESSES(4)
COVARIUM_ACCESSES(8)
COVARIUM_ACCESSES(16)
#undef COVARIUM_ACCESSES
#undef COVARIUM_ACCESS

#if defined(__clang__)
using CovariumSize = uintptr_t;
#else
using CovariumSize = ptrdiff_t;
#endif
#define COVARIUM_ACCESS(name, isWrite)                                                                         \
  COVARIUM_HOOK void name(void* address, CovariumSize bytes) {                                                 \
    covarium::kernelHost->access({address, static_cast<uint64_t>(bytes), isWrite, __builtin_return_address(0), \
                                  *static_cast<void* const* const*>(__builtin_frame_address(0))});             \
  }
COVARIUM_ACCESS(__asan_loadN, false)
COVARIUM_ACCESS(__asan_loadN_noabort, false)
COVARIUM_ACCESS(__asan_storeN, true)
COVARIUM_ACCESS(__asan_storeN_noabort, true)
#undef COVARIUM_ACCESS

COVARIUM_HOOK void __asan_init() {}
COVARIUM_HOOK void __asan_version_mismatch_check_v8() {}
COVARIUM_HOOK void __asan_handle_no_return() {}
COVARIUM_HOOK void __asan_before_dynamic_init(const char*) {}
COVARIUM_HOOK void __asan_after_dynamic_init() {}
#define COVARIUM_COPY(name)                                                                 \
  COVARIUM_HOOK void* __asan_##name(void* to, const void* from, size_t bytes) {             \
    const auto frame = *static_cast<void* const* const*>(__builtin_frame_address(0));       \
    if (bytes == 0) return to;                                                              \
    covarium::kernelHost->access({from, bytes, false, __builtin_return_address(0), frame}); \
    covarium::kernelHost->access({to, bytes, true, __builtin_return_address(0), frame});    \
    return __builtin_##name(to, from, bytes);                                               \
  }
COVARIUM_COPY(memcpy)
COVARIUM_COPY(memmove)
#undef COVARIUM_COPY
COVARIUM_HOOK void* __asan_memset(void* to, int value, size_t bytes) {
  if (bytes == 0) return to;
  covarium::kernelHost->access(
      {to, bytes, true, __builtin_return_address(0), *static_cast<void* const* const*>(__builtin_frame_address(0))});
  return __builtin_memset(to, value, bytes);
}

// The compilers' structures for an index beyond an array.
struct CovariumSourceLocation {
  const char* file;
  uint32_t line, column;
};
struct CovariumTypeDescriptor {
  uint16_t kind, info;
  char name[1];
};
struct CovariumOutOfBounds {
  CovariumSourceLocation location;
  const CovariumTypeDescriptor *array, *index;
};
#define COVARIUM_OVERRUN(hook)                                                                                       \
  COVARIUM_HOOK void hook(void* given, void* index) {                                                                \
    const auto* data = static_cast<const CovariumOutOfBounds*>(given);                                               \
    const char* type = data->array->name;                                                                            \
    covarium::kernelHost->overrun({reinterpret_cast<int64_t>(index), type, data->location.file, data->location.line, \
                                   __builtin_return_address(0),                                                      \
                                   *static_cast<void* const* const*>(__builtin_frame_address(0))});                  \
  }
COVARIUM_OVERRUN(__ubsan_handle_out_of_bounds)
COVARIUM_OVERRUN(__ubsan_handle_out_of_bounds_abort)
#undef COVARIUM_OVERRUN
#undef COVARIUM_HOOK
