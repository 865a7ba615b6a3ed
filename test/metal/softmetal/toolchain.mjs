// The tools that build the stand-in on Linux: clang for Objective-C++, GNUstep for Foundation, GCC's runtime for the
// objects.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';

const packages = 'apt-get install clang gobjc libgnustep-base-dev libblocksruntime-dev';

function outputOf(command, ...args) {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

/** `{ reason }` if something is missing, otherwise the flags: `objc` compiles Objective-C++, `libraries` links it. */
export function findToolchain() {
  const fail = (what) => ({ reason: `Software Metal needs ${what} (Debian or Ubuntu: ${packages}).` });
  if (process.platform !== 'linux') return { reason: 'Software Metal is for Linux.' };
  const runtime = outputOf('gcc', '-print-file-name=libobjc.so');
  const gccHeaders = outputOf('gcc', '-print-file-name=include');
  const gnustep = outputOf('gnustep-config', '--objc-flags');
  if (outputOf('clang++', '--version') === '') return fail('clang');
  if (!isAbsolute(runtime) || !existsSync(`${gccHeaders}/objc/objc.h`)) return fail("GCC's Objective-C runtime");
  if (gnustep === '') return fail('GNUstep');
  const probe = spawnSync('clang++', ['-E', '-x', 'c++', '-'], { input: '#include <Block.h>\n', stdio: 'pipe' });
  if (probe.status !== 0) return fail('the blocks runtime');
  // Removes GNUstep's optimization flags and folders of the user's home; its headers are system headers.
  const wanted = gnustep
    .split(/\s+/)
    .filter((flag) => flag !== '' && !/^-(I|O|g$|Wall$|MMD$|MP$)/.test(flag))
    .concat([...new Set(gnustep.match(/(?<=-I)\/usr\/\S+/g))].flatMap((folder) => ['-isystem', folder]));
  return {
    reason: '',
    resources: outputOf('clang++', '-print-resource-dir'),
    objc: ['-x', 'objective-c++', '-fobjc-runtime=gcc', '-fblocks', ...wanted, '-idirafter', gccHeaders],
    // GNUstep has a _Block_copy that copies nothing, so the real one must come first.
    libraries: ['-lBlocksRuntime', '-L', dirname(runtime), '-lgnustep-base', '-lobjc', '-ldl', '-lpthread'],
  };
}
