// The stricter check, by hand: the addon of a Mac, compiled and linked on Linux with Apple's own headers and lists of
// symbols, for arm64 and x86_64, macOS 13.3: availability by version, and every symbol that neither our files nor
// Apple's libraries define (node-gyp links with -undefined dynamic_lookup, so a Mac would report those only when the
// addon is loaded). npm test does not run it, because we may not distribute Apple's headers.
//
//   git clone --bare --depth 1 https://github.com/theos/sdks SDKS
//   git clone --bare --depth 1 https://github.com/hexops/xcode-frameworks FRAMEWORKS
//   node test/metal/apple-api/real-headers.mjs SDKS FRAMEWORKS
//
// The first has MetalPerformanceShaders and Accelerate (from the iOS 16.5 SDK, whose matrix classes are macOS's), the
// second has the rest. It needs git, clang, lld and libc++-dev. Ends with one line: N passed, N failed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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

/** Writes the files under some paths of a git folder's last commit. Files that a partial clone lacks are left out. */
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
layOut(frameworks, ['Frameworks', 'include', 'lib'], join(folder, 'mac'));
// The only header that neither has; Foundation uses some of its names.
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
const linker = ['ld64.lld', 'ld64.lld-14'].find((name) => spawnSync(name, ['--version']).status === 0);
if (linker === undefined) throw new Error('There is no ld64.lld; Debian or Ubuntu: apt-get install lld.');
const { npm_config_nodedir: nodeFolder = dirname(dirname(process.execPath)) } = process.env;
const common = [
  ...['-std=gnu++17', '-O1', '-fblocks', '-fvisibility=hidden', '-ffp-contract=off'],
  ...['-isysroot', join(folder, 'mac'), '-isystem', join(folder, 'made'), '-nostdinc++', '-isystem', library],
  ...['-isystem', join(folder, 'mac/include'), '-iframework', join(folder, 'mac/Frameworks')],
  ...['-iframework', join(folder, 'ios', system), '-isystem', join(nodeFolder, 'include/node')],
  ...['-isystem', join(top, 'node_modules/node-addon-api'), '-I', join(top, 'msl'), '-I', join(top, 'msl/cpu')],
  ...['-DNAPI_VERSION=8', '-DNAPI_CPP_EXCEPTIONS', '-DNODE_ADDON_API_DISABLE_DEPRECATED', '-DCOVARIUM_VERSION="0"'],
];
// Our sources must compile without a warning. Warnings from node-addon-api and the kernels' shim are not about
// Apple's API.
const strict = ['-Wall', '-Wextra', '-Werror', '-Werror=objc-method-access', '-Wunguarded-availability'];
const ofObjectiveC = [...strict, '-Wno-nullability-completeness', '-x', 'objective-c++'];

const { targets, conditions } = gypOf(readFileSync(join(top, 'binding.gyp'), 'utf8'));
const [addon] = targets;
const forMac = addon.conditions.find(([condition]) => condition === "OS=='mac'")[1];
const sources = [...addon.sources, ...forMac.sources];

/** Parses binding.gyp, which is a Python literal. */
function gypOf(text) {
  const program = 'import ast, json, sys; print(json.dumps(ast.literal_eval(sys.stdin.read())))';
  return JSON.parse(run('python3', ['-c', program], text).toString());
}

/** The static libraries of kernels that a Mac of this architecture builds: the table and the flags of each. */
const kernelsOf = {
  arm64: [['kernelsBaseline', []]],
  x86_64: [
    ['kernelsBaseline', []],
    ['kernelsAvx2', flagsOf('kernels_avx2')],
    ['kernelsAvx512', flagsOf('kernels_avx512')],
  ],
};

function flagsOf(name) {
  const libraries = conditions.flatMap(([, { targets: found }]) => found);
  return libraries.find(({ target_name: each }) => each === name).cflags.filter((flag) => flag.startsWith('-m'));
}

let passed = 0;
let failed = 0;
function told(title, complaint) {
  console.log(`${complaint === '' ? 'passed' : 'FAILED'}  ${title}`);
  if (complaint !== '') console.log(complaint);
  if (complaint === '') passed += 1;
  else failed += 1;
}

/** Compiles a source and prints what the compiler says. Returns the object's path, or undefined. */
function compile(source, processor, flags, title = source) {
  const object = join(folder, `${processor} ${title.replace(/[^\w.]/g, '-')}.o`);
  const language = source.endsWith('.mm') ? ofObjectiveC : source.startsWith('objc/metal/') ? strict : ['-w'];
  const args = [`--target=${processor}-apple-macos13.3`, '-c', ...common, ...language, ...flags, source, '-o', object];
  const { status, stderr } = spawnSync('clang++', args, { cwd: top, encoding: 'utf8' });
  told(`${title} (${processor})`, status === 0 ? '' : stderr || 'No compiler runs.');
  return status === 0 ? object : undefined;
}

/** The symbols of Apple's libraries, from their lists of symbols, in which a class has its plain name. */
const shaders = 'MetalPerformanceShaders.framework/Frameworks';
const veclib = 'Accelerate.framework/Frameworks/vecLib.framework';
const lists = [
  ...['Foundation', 'CoreFoundation', 'CoreGraphics', 'Metal'].map(
    (name) => `mac/Frameworks/${name}.framework/${name}.tbd`,
  ),
  'mac/lib/libobjc.A.tbd',
  ...['MPSCore', 'MPSMatrix', 'MPSNeuralNetwork'].map((name) => phone(`${shaders}/${name}.framework/${name}`)),
  ...[`${veclib}/libBLAS`, `${veclib}/libLAPACK`].map(phone),
];
const apples = new Set(lists.flatMap((path) => readFileSync(join(folder, path), 'utf8').split(/[\s,'[\]]+/)));
// The functions of the C library.
const declarations = join(top, 'node_modules/@nativescript/macos-node-api/types/Runtime.d.ts');
for (const [, name] of readFileSync(declarations, 'utf8').matchAll(/^declare function (\w+)/gm)) apples.add(`_${name}`);

function phone(name) {
  return `ios/${system}/${name}.tbd`;
}

// Symbols in none of these lists: Node's own, the C++ library's, and these of the C library and the compiler's
// runtime.
const elsewhere = new RegExp(
  `^_(?:napi_\\w+|_Z\\w+|__cxa_\\w+|${[
    ...['_Unwind_Resume', '__dynamic_cast', '__error', '__gxx_personality_v0', '__stack_chk_(?:fail|guard)'],
    ...['__tolower', '_NSConcreteStackBlock', '_NSConcreteGlobalBlock', '_tlv_(?:atexit|bootstrap)', 'atexit', 'abort'],
    ...['bzero', 'dl(?:close|error|open|sym)', 'f(?:close|flush|open|read|seeko?|tello|write)', 'free', 'malloc'],
    ...['getenv', 'mem(?:chr|cmp|cpy|move|set|set_pattern\\d+)', 'mmap', 'munmap', 'newlocale', 'posix_memalign'],
    ...['pread', 'pthread_\\w+', 'sched_yield', 'str(?:cmp|error|len|tod_l|toull)', 'sysconf', 'sysctlbyname'],
    ...[
      '_Block_(?:copy|release)',
      'dyld_stub_binder',
      '__bzero',
      '_setjmp',
      'environ',
      'cpuid_\\w+',
      '__CFConstantStringClassReference',
    ],
  ].join('|')})$`,
);

for (const processor of ['arm64', 'x86_64']) {
  compile('test/metal/apple-api/sample.mm', processor, []);
  const objects = [
    ...sources.map((source) => compile(source, processor, processor === 'x86_64' ? ['-DCOVARIUM_BASELINE'] : [])),
    ...kernelsOf[processor].map(([table, flags]) =>
      compile('objc/cpu/simd/kernels.cc', processor, [`-DCOVARIUM_TABLE=${table}`, ...flags], table),
    ),
  ];
  if (objects.includes(undefined)) continue;
  const output = join(folder, `${processor}.node`);
  const { status, stderr } = spawnSync(
    linker,
    [
      ...['-arch', processor, '-platform_version', 'macos', '13.3', '13.3', '-bundle', '-o', output],
      ...['-undefined', 'dynamic_lookup', ...objects],
    ],
    { encoding: 'utf8' },
  );
  told(`the addon is linked (${processor})`, status === 0 ? '' : stderr);
  if (status !== 0) continue;
  const free = run('llvm-nm', ['--undefined-only', '--just-symbol-name', output]).toString().trim().split('\n');
  const missing = free.filter((name) => !apples.has(name.replace('_OBJC_CLASS_$_', '')) && !elsewhere.test(name));
  // One of our names would show that the addon lacks a file. Metal's name shows that the list was read.
  const read = free.includes('_MTLCreateSystemDefaultDevice') ? '' : 'llvm-nm tells nothing.';
  told(`every symbol is somebody's (${processor})`, read || missing.join('\n'));
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
