// Builds the addon with objc/metal over the software stand-in for Metal: covarium.node, softmetal.node (the hooks of
// the tests), the programs that drive the stand-in without Node, and softcuda/libcuda.so.1, the stand-in for NVIDIA's
// driver. Only what is older than its sources is built again.
//
//   node test/metal/softmetal/build.mjs [--sanitize=address,undefined|thread] [--out=build-soft-asan]
//                                 [--instead=objc/metal/buffer.mm=edited.mm ...] [--drivers] [--only=compute]
//
// With --drivers, only the programs are built, without what only the addon needs; with --only, one product. With
// --instead, the objects of unedited sources are in build-soft. Ends with code 2 and one line if clang or GNUstep are
// missing.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findToolchain } from './toolchain.mjs';
import { productsOf } from './units.mjs';

const jobs = 2;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    sanitize: { type: 'string', default: '' },
    out: { type: 'string', default: 'build-soft' },
    instead: { type: 'string', multiple: true, default: [] },
    drivers: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});

const toolchain = findToolchain();
if (toolchain.reason !== '') {
  console.error(toolchain.reason);
  process.exit(2);
}

const out = join(root, options.out);
const generated = join(root, 'build-soft/generated');
const instead = new Map(options.instead.map((pair) => pair.split('=')));

const common =
  '-g1 -fPIC -pthread -std=gnu++17 -fvisibility=hidden -Wall -Wextra -Wno-unknown-pragmas -Wno-unused-private-field'.split(
    ' ',
  );
const linked = [...toolchain.libraries];
const checks = options.sanitize === '' ? [] : [`-fsanitize=${options.sanitize}`, '-fno-omit-frame-pointer'];
if (options.sanitize.includes('address')) {
  // Node's process preloads the runtime; the programs find it where clang has it.
  checks.push('-shared-libasan');
  linked.push(`-Wl,-rpath,${toolchain.resources}/lib/linux`);
}

/**
 * An object as it is built here. The kernels are built once for each instruction set; those that this processor does
 * not use are only there to be linked, once for all builds.
 */
function madeHere(unit) {
  const set = /kernels-(\w+)\.o$/.exec(unit.target)?.[1];
  if (set !== undefined && set !== setOfThisProcessor())
    return { ...unit, target: join(root, 'build-soft', `kernels-${set}.o`), checks: ['-O0'] };
  // PTX fuses multiply-adds; without the processor's instruction for that, each is a slow call.
  if (unit.source.startsWith('test/cuda/softcuda/') && ['Avx512', 'Avx2'].includes(setOfThisProcessor()))
    return { ...unit, checks: [...checks, '-march=x86-64-v3'] };
  if (checks.length === 0) return { ...unit, checks };
  // The programs compute little under the thread sanitizer, and what only passes commands on computes nothing.
  const isQuick = options.sanitize === 'thread' || !/^objc\/(?:cpu|table)\//.test(unit.source);
  if (set === undefined && isQuick) return { ...unit, checks: [...checks, '-O0'] };
  // clang takes a minute to compile the kernels with every check. The address sanitizer, or the processor itself,
  // finds bad pointers anyway.
  const fewer = set === undefined ? [] : ['-O2', '-fno-sanitize=null,object-size,pointer-overflow,alignment'];
  return { ...unit, checks: [...checks, ...fewer] };
}

/**
 * The instruction set that objc/cpu/processor.cc chooses, by its name in units.mjs; the baseline for an unknown
 * processor.
 */
function setOfThisProcessor() {
  const flags = process.arch === 'x64' && existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'utf8') : '';
  const has = (...names) => names.every((name) => new RegExp(`^flags.* ${name}( |$)`, 'm').test(flags));
  if (has('avx512f', 'avx512bw', 'avx512dq', 'avx512vl')) return 'Avx512';
  return has('avx2', 'fma') ? 'Avx2' : 'Baseline';
}

const textOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const timeOf = (path) => (existsSync(path) ? statSync(path).mtimeMs : Number.NaN);
/**
 * True if `target` exists, was made by this command, and no source has changed since; also if it was copied together
 * with the record of its command.
 */
const isCurrent = (target, command, sources) =>
  textOf(`${target}.command`) === command.join('\n') &&
  sources.every((path) => timeOf(path.startsWith('/') ? path : join(root, path)) <= timeOf(target));

/** The files that an object was made from, from the compiler's dependency file. */
function sourcesOf({ source, target }) {
  const found = textOf(`${target}.d`).replaceAll('\\\n', ' ').split(/\s+/);
  return [source, ...found.filter((word) => word !== '' && !word.endsWith(':'))];
}

function run(args) {
  return new Promise((resolve) => {
    const child = spawn('clang++', args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('close', (code) => resolve(code === 0));
  });
}

/** Builds what is not current, `jobs` at a time; ends the process if one fails. */
async function make(wanted) {
  const waiting = wanted.filter(({ target, command, sources }) => !isCurrent(target, command, sources));
  if (waiting.length > 2) console.error(`Building ${relative(root, out)} (${waiting.length} files) ...`);
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      mkdirSync(dirname(next.target), { recursive: true });
      if (!(await run([...next.command, ...next.places]))) process.exit(1);
      writeFileSync(`${next.target}.command`, next.command.join('\n'));
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
}

/** The kernels have hardly any headers, and an edited file's flags are its own. */
const takesHeaders = ({ target, flags }) => !/kernels-\w+\.o$/.test(target) && !flags.includes('-iquote');

/**
 * The commands that compile each object, and before them the system's headers, once for all objects with the same
 * flags.
 */
function compilations(units) {
  const headers = new Map();
  const objects = units.map((unit) => {
    const own = [...unit.flags, ...common, ...unit.checks];
    if (!takesHeaders(unit)) return compilation(unit, [...own, '-c', unit.source]);
    const name = createHash('sha256').update(own.join('\n')).digest('hex').slice(0, 8);
    const target = join(dirname(unit.target), `headers-${name}.pch`);
    const flags = [...own, '-fpch-instantiate-templates'];
    const source = 'test/metal/softmetal/precompiled.h';
    const language = flags.includes('objective-c++') ? 'objective-c++-header' : 'c++-header';
    headers.set(target, compilation({ source, target }, [...flags, '-x', language, source]));
    return compilation(unit, [...flags, '-include-pch', target, '-c', unit.source], target);
  });
  return { headers: [...headers.values()], objects };
}

const compilation = (unit, command, ...before) => ({
  target: unit.target,
  command,
  places: ['-MMD', '-MF', `${unit.target}.d`, '-o', unit.target],
  sources: [...sourcesOf(unit), ...before],
});

/** Compiles our kernels by the xcrun of this folder; the header keeps its time if nothing has changed. */
function embedKernels() {
  const script = join(root, 'msl/embed.mjs');
  const header = join(generated, 'shader-source.h');
  const env = {
    ...process.env,
    PATH: `${fileURLToPath(new URL('.', import.meta.url))}${delimiter}${process.env.PATH}`,
  };
  const { status } = spawnSync(process.execPath, [script, `${header}.new`], { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  if (textOf(`${header}.new`) !== textOf(header)) renameSync(`${header}.new`, header);
}

const plainOut = instead.size > 0 && checks.length === 0 ? join(root, 'build-soft') : out;
const products = productsOf({ root, out, plainOut, toolchain, generated, instead })
  .filter(({ isDriver = false }) => isDriver || !options.drivers)
  // No sanitizer test opens NVIDIA's driver, or runs the program that misuses Metal.
  .filter(({ target }) => checks.length === 0 || !['libcuda.so.1', 'misuse'].includes(basename(target)))
  .filter(({ target }) => options.only === '' || basename(target) === options.only)
  .map((product) => ({ ...product, objects: product.objects.map(madeHere) }));
mkdirSync(generated, { recursive: true });
mkdirSync(out, { recursive: true });
embedKernels();
const units = new Map(products.flatMap(({ objects }) => objects).map((unit) => [unit.target, unit]));
const { headers, objects } = compilations([...units.values()]);
await make(headers);
await make(objects);
await make(
  products.map(({ target, objects, flags }) => {
    const sources = objects.map((unit) => unit.target);
    return {
      target,
      command: [...flags, ...common, ...checks, ...sources, ...linked],
      places: ['-o', target],
      sources,
    };
  }),
);
