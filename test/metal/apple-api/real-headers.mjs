// The stricter check, by hand: every .mm of objc/metal against Apple's own headers, for arm64 and x86_64, macOS 13.3,
// availability by version included. Not run by npm test: Apple's headers are not ours to keep.
//
//   git clone --bare --depth 1 https://github.com/theos/sdks SDKS
//   git clone --bare --depth 1 https://github.com/hexops/xcode-frameworks FRAMEWORKS
//   node test/metal/apple-api/real-headers.mjs SDKS FRAMEWORKS
//
// The first gives MetalPerformanceShaders and Accelerate (of the iOS 16.5 SDK, whose matrix classes are macOS's), the
// second the rest. It needs git, clang and libc++-dev. Ends with one line: N passed, N failed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { embed } from '../../../msl/embed.mjs';

const top = fileURLToPath(new URL('../../..', import.meta.url));
const [sdks, frameworks] = process.argv.slice(2);
if (!sdks || !frameworks) throw new Error('The two git folders are not named: real-headers.mjs SDKS FRAMEWORKS.');

function run(command, args, input) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { input, maxBuffer: 2 ** 31 - 1 });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ends with (${status}): ${stderr}`);
  return stdout;
}

/** Writes what a git folder's last commit has under some paths. What a partial clone lacks is left out. */
function layOut(repository, folders, to) {
  const git = (args, input) => run('git', ['-C', repository, ...args], input);
  const entries = git(['ls-tree', '-r', 'HEAD', '--', ...folders])
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => /^(\d+) \w+ (\w+)\t(.*)$/.exec(line))
    .filter((entry) => entry !== null);
  if (entries.length === 0) throw new Error(`The git folder (${repository}) has none of (${folders.join(', ')}).`);
  const bytes = git(['cat-file', '--batch'], `${entries.map(([, , hash]) => hash).join('\n')}\n`);
  let at = 0;
  for (const [, mode, , name] of entries) {
    const end = bytes.indexOf('\n', at);
    const [, kind, size] = bytes.toString('utf8', at, end).split(' ');
    at = end + 1;
    if (kind === 'missing') continue;
    const content = bytes.subarray(at, at + Number(size));
    at += Number(size) + 1;
    const path = join(to, name);
    mkdirSync(dirname(path), { recursive: true });
    if (mode === '120000') symlinkSync(content.toString(), path);
    else writeFileSync(path, content);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'covarium-headers-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const system = 'iPhoneOS16.5.sdk/System/Library/Frameworks';
layOut(
  sdks,
  ['MetalPerformanceShaders', 'Accelerate'].map((name) => `${system}/${name}.framework`),
  join(folder, 'ios'),
);
layOut(frameworks, ['Frameworks', 'include'], join(folder, 'mac'));
// The one header that neither has, and whose words Foundation says in passing.
mkdirSync(join(folder, 'made/xpc'), { recursive: true });
writeFileSync(
  join(folder, 'made/xpc/xpc.h'),
  'typedef void* xpc_object_t;\ntypedef const void* xpc_type_t;\n#define XPC_RETURNS_RETAINED\n',
);
embed(join(folder, 'made/shader-source.h'));

const resources = run('clang', ['-print-resource-dir']).toString().trim();
const library = join(resources.split('/lib/clang')[0], 'include/c++/v1');
if (!existsSync(library))
  throw new Error(`There is no libc++ (${library}); Debian or Ubuntu: apt-get install libc++-dev.`);
const flags = [
  ...['-x', 'objective-c++', '-std=c++17', '-fblocks', '-fsyntax-only', '-Wall', '-Wextra', '-Werror'],
  ...['-Werror=objc-method-access', '-Wunguarded-availability', '-Wno-nullability-completeness'],
  ...['-isysroot', join(folder, 'mac'), '-isystem', join(folder, 'made'), '-nostdinc++', '-isystem', library],
  ...['-isystem', join(folder, 'mac/include'), '-iframework', join(folder, 'mac/Frameworks')],
  ...['-iframework', join(folder, 'ios', system)],
];

const sources = readdirSync(join(top, 'objc/metal'))
  .filter((name) => name.endsWith('.mm'))
  .map((name) => `objc/metal/${name}`);
let passed = 0;
let failed = 0;
for (const source of ['test/metal/apple-api/sample.mm', ...sources])
  for (const processor of ['arm64', 'x86_64']) {
    const target = `--target=${processor}-apple-macos13.3`;
    const { status, stderr } = spawnSync('clang++', [target, ...flags, source], { cwd: top, encoding: 'utf8' });
    console.log(`${status === 0 ? 'passed' : 'FAILED'}  ${source} (${processor})`);
    if (status === 0) passed += 1;
    else {
      failed += 1;
      console.log(stderr);
    }
  }
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
