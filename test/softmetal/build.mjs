// Builds the addon with objc/metal over the software stand-in for Metal: covarium.node, softmetal.node (the hooks of the
// tests) and the programs that drive the stand-in without Node. Only what is older than its sources is built again.
//
//   node test/softmetal/build.mjs [--sanitize=address,undefined|thread] [--out=build/soft-asan]
//
// Ends with code 2 and one line where clang or GNUstep are missing.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findToolchain } from './toolchain.mjs';

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL('../..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    sanitize: { type: 'string', default: '' },
    out: { type: 'string', default: 'build/soft' },
    define: { type: 'string', multiple: true, default: [] },
  },
});
const out = join(folder, options.out);
const jobs = 2;

const toolchain = findToolchain();
if (toolchain.reason !== '') {
  console.error(toolchain.reason);
  process.exit(2);
}

const sanitize = options.sanitize === '' ? [] : [`-fsanitize=${options.sanitize}`, '-fno-omit-frame-pointer'];
if (options.sanitize.includes('address')) sanitize.push('-shared-libasan');
const runtimes = `${toolchain.resources}/lib/linux`; // of the sanitizers, for the programs that Node does not preload
const rpath = sanitize.includes('-shared-libasan') ? [`-Wl,-rpath,${runtimes}`] : [];
const common = [
  '-g1',
  '-fPIC',
  '-Wall',
  '-Wextra',
  '-fvisibility=hidden',
  '-std=gnu++17',
  '-pthread',
  ...sanitize,
  '-Wno-unknown-pragmas',
  '-Wno-unused-private-field',
];
common.push(...options.define.map((name) => `-D${name}`));
const kernelFlags = [
  '-O3',
  '-ffp-contract=off',
  '-Wno-attributes',
  '-Wno-unknown-pragmas',
  '-Wno-uninitialized',
  '-Wno-unknown-attributes',
  '-Wno-ignored-attributes',
  '-Wno-ignored-pragmas',
  '-Wno-psabi',
];
const kernelFolders = ['-Imsl', '-Imsl/cpu', '-Iobjc/cpu'];
const node = [
  '-DNAPI_VERSION=8',
  '-DNAPI_CPP_EXCEPTIONS',
  '-DNODE_ADDON_API_DISABLE_DEPRECATED',
  '-DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
  '-isystem',
  require('node-addon-api').include_dir,
  '-isystem',
  require('node-api-headers').include_dir,
];

const list = (room, pattern) =>
  existsSync(join(folder, room))
    ? readdirSync(join(folder, room))
        .filter((name) => pattern.test(name))
        .sort()
        .map((name) => join(room, name))
    : [];
const object = (source, flags, name = source.replaceAll('/', '-')) => ({
  source,
  flags,
  target: join(out, `${name}.o`),
});

const generated = join(out, 'generated');
const objc = ['-O1', ...toolchain.objc, '-Itest/softmetal/include', '-Imsl', '-Imsl/cpu', `-I${generated}`];
const plain = ['-O2', '-Imsl', '-Imsl/cpu'];

const addon = list('objc/addon', /\.cc$/).map((source) => object(source, [...plain, ...node]));
// What is plain C++ there catches, which Objective-C++ can't do with GNUstep.
const languageOf = (source) => (source.endsWith('.mm') ? objc : plain);
const metal = list('objc/metal', /(?<!none)\.(cc|mm)$/).map((source) => object(source, languageOf(source)));
const x64 = process.arch === 'x64';
const avx512 = ['-mavx512f', '-mavx512bw', '-mavx512dq', '-mavx512vl'];
const kernels = (
  x64
    ? [
        ['Avx512', [...avx512, '-mavx2', '-mfma']],
        ['Avx2', ['-mavx2', '-mfma']],
      ]
    : [['Baseline', []]]
).map(([set, flags]) =>
  object(
    'objc/cpu/kernels.cc',
    [...kernelFlags, ...kernelFolders, ...flags, `-DCOVARIUM_TABLE=kernels${set}`],
    `kernels-${set}`,
  ),
);
const cpu = list('objc/cpu', /(?<!kernels|blas-accelerate)\.cc$/)
  .map((source) => object(source, plain))
  .concat(kernels);
const fixture = object('test/softmetal/drivers/fixture.mm', objc);
const programs = list('test/softmetal/drivers', /(?<!fixture)\.(cc|mm)$/);
const soft = list('test/softmetal', /(?<!hooks)\.cc$/)
  .map((source) => object(source, plain))
  .concat(list('test/softmetal', /\.mm$/).map((source) => object(source, objc)));
const hooks = object('test/softmetal/hooks.cc', [...plain, ...node]);

const products = [
  {
    target: join(out, 'covarium.node'),
    objects: [...addon, ...metal, ...cpu, ...soft],
    flags: ['-shared', '-Wl,-z,nodelete'],
  },
  { target: join(out, 'softmetal.node'), objects: [hooks], flags: ['-shared'] },
  ...programs.map((source) => ({
    target: join(out, basename(source, extname(source))),
    objects: [object(source, languageOf(source)), fixture, ...metal, ...cpu, ...soft],
    flags: ['-rdynamic'],
  })),
];

const timeOf = (path) => (existsSync(path) ? statSync(path).mtimeMs : Number.NEGATIVE_INFINITY);

/** The files that an object was made of, as the compiler wrote them down; none before the first time. */
function sourcesOf({ source, target }) {
  if (!existsSync(`${target}.d`)) return [source];
  const words = readFileSync(`${target}.d`, 'utf8').replaceAll('\\\n', ' ').split(/\s+/);
  return words.filter((word) => word !== '' && !word.endsWith(':'));
}

/** The command that made a file last. */
const recorded = (target) => (existsSync(`${target}.args`) ? readFileSync(`${target}.args`, 'utf8') : '');

const argumentsOf = ({ source, target, flags }) =>
  [...flags, ...common, '-MMD', '-MF', `${target}.d`, '-c', source, '-o', target].join('\n');

const isStale = (unit) =>
  sourcesOf(unit).some((path) => {
    const time = timeOf(path.startsWith('/') ? path : join(folder, path));
    return time === Number.NEGATIVE_INFINITY || time > timeOf(unit.target);
  }) || argumentsOf(unit) !== recorded(unit.target);

function run(args) {
  return new Promise((resolve) => {
    const child = spawn('clang++', args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('close', (code) => resolve(code === 0));
  });
}

async function compile(units) {
  const waiting = [...units];
  let failed = false;
  const worker = async () => {
    while (waiting.length > 0 && !failed) {
      const unit = waiting.shift();
      const args = argumentsOf(unit);
      if (await run(args.split('\n'))) writeFileSync(`${unit.target}.args`, args);
      else failed = true;
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return !failed;
}

mkdirSync(generated, { recursive: true });
const embed = join(folder, 'msl/embed.mjs');
if (existsSync(embed)) {
  const { status } = spawnSync(process.execPath, [embed, join(generated, 'shader-source.h')], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

const units = [...new Map(products.flatMap(({ objects }) => objects).map((unit) => [unit.target, unit])).values()];
const stale = units.filter(isStale);
if (stale.length > 0)
  console.error(`Building software Metal in ${relative(folder, out)} (${stale.length} sources) ...`);
if (!(await compile(stale))) process.exit(1);
for (const { target, objects, flags } of products) {
  const args = [
    ...flags,
    ...common,
    ...objects.map((unit) => unit.target),
    ...toolchain.libraries,
    ...rpath,
    '-o',
    target,
  ].join('\n');
  if (recorded(target) === args && objects.every((unit) => timeOf(unit.target) <= timeOf(target))) continue;
  if (!(await run(args.split('\n')))) process.exit(1);
  writeFileSync(`${target}.args`, args);
}
