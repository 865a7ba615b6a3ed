// The whole test run with the native part under the address sanitizer: builds the addon a second time, in a copy, so that the
// ordinary build stays as it is. Needs g++ and its libasan. Leaks are the memory tests' business: Node's own would drown ours.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const nodeGyp = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js');
const copy = mkdtempSync(join(tmpdir(), 'covarium-asan-'));
try {
  for (const name of ['objc', 'msl', 'binding.gyp', 'package.json'])
    cpSync(join(folder, name), join(copy, name), { recursive: true });
  symlinkSync(join(folder, 'node_modules'), join(copy, 'node_modules'));
  const flags = '-fsanitize=address -fno-omit-frame-pointer -g1';
  const build = spawnSync(process.execPath, [nodeGyp, 'rebuild', '--jobs', 'max'], {
    cwd: copy,
    encoding: 'utf8',
    env: { ...process.env, CC: 'gcc', CXX: 'g++', CFLAGS: flags, CXXFLAGS: flags, LDFLAGS: '-fsanitize=address' },
  });
  if (build.status !== 0) {
    console.error(build.stdout + build.stderr);
    throw new Error('The addon does not build under the address sanitizer.');
  }
  const library = execFileSync('g++', ['-print-file-name=libasan.so'], { encoding: 'utf8' }).trim();
  const { status } = spawnSync(
    process.execPath,
    ['--import', 'tsx', join(folder, 'test/run.ts'), ...process.argv.slice(2)],
    {
      cwd: folder,
      stdio: 'inherit',
      env: {
        ...process.env,
        COVARIUM_ADDON: join(copy, 'build/Release/covarium.node'),
        COVARIUM_SANITIZED: 'address',
        LD_PRELOAD: library,
        ASAN_OPTIONS: 'detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16:abort_on_error=0:exitcode=99',
      },
    },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
