// npm run test:sanitize [-- parts of file names]
//
// The native part under clang's sanitizers: the drivers of test/metal/softmetal (address, leak, undefined behaviour;
// threads), then the test run, the addon built for the address and undefined-behaviour sanitizers: the Metal device
// over its stand-in with leaks counted, and everything else without (Node's own would drown ours, and the memory tests
// look for them).
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const drivers = spawnSync(process.execPath, [`${folder}test/metal/softmetal/sanitize.mjs`], {
  cwd: folder,
  stdio: 'inherit',
});
if (drivers.status === 2) process.exit(2); // it has said what is missing
if (drivers.status !== 0) process.exitCode = 1;

const architecture = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
const runtime = `libclang_rt.asan-${architecture}.so`;
const library = execFileSync('clang', [`-print-file-name=${runtime}`], { encoding: 'utf8' }).trim();
const address = 'allocator_may_return_null=1:quarantine_size_mb=16:exitcode=99';
const runs = [
  // The stack of a leak goes through GNUstep, which keeps no frame pointers.
  { devices: 'metal', address: `detect_leaks=1:fast_unwind_on_malloc=0:${address}` },
  { devices: 'cpu,reference', address: `detect_leaks=0:${address}` },
];
for (const run of runs) {
  const { status } = spawnSync(
    process.execPath,
    ['--import', 'tsx', `${folder}test/run.ts`, ...process.argv.slice(2)],
    {
      cwd: folder,
      stdio: 'inherit',
      env: {
        ...process.env,
        COVARIUM_ADDON: `${folder}build-soft-asan/covarium.node`,
        COVARIUM_SANITIZED: 'address',
        COVARIUM_TEST_DEVICES: run.devices,
        LD_PRELOAD: library,
        ASAN_OPTIONS: run.address,
        LSAN_OPTIONS: `suppressions=${folder}test/metal/softmetal/leak.supp:print_suppressions=0`,
        UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
      },
    },
  );
  if (status !== 0) process.exitCode = 1;
}
