import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const env: NodeJS.ProcessEnv & { COVARIUM_SANITIZED?: string } = process.env;

/**
 * True if the addon is built with a sanitizer (test/sanitize.mjs): kernels take twenty times as long, and freed
 * memory is held back.
 */
export const sanitized: boolean = env.COVARIUM_SANITIZED !== undefined;

/**
 * The environment in which Node loads an addon with the address sanitizer. Leaks are counted only for the Metal
 * device over its stand-in: elsewhere Node's own leaks would hide ours, and test/native/leak.test.ts looks for them.
 */
export function sanitizerEnvironment(countsLeaks: boolean): NodeJS.ProcessEnv {
  const architecture = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as string];
  const runtime = `libclang_rt.asan-${architecture}.so`;
  // The stack of a leak goes through GNUstep, which keeps no frame pointers. Ten calls are enough to know a leak that
  // is not ours, and walking all of a stack for each allocation costs five seconds more at each start of Node.
  const leaks = countsLeaks ? 'detect_leaks=1:fast_unwind_on_malloc=0:malloc_context_size=10' : 'detect_leaks=0';
  const suppressions = fileURLToPath(new URL('../metal/softmetal/leak.supp', import.meta.url));
  return {
    LD_PRELOAD: execFileSync('clang', [`-print-file-name=${runtime}`], { encoding: 'utf8' }).trim(),
    ASAN_OPTIONS: `${leaks}:allocator_may_return_null=1:quarantine_size_mb=16:exitcode=99`,
    LSAN_OPTIONS: `suppressions=${suppressions}:print_suppressions=0`,
    UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
  };
}
