// Makes PTX of the kernels that the CUDA device runs, for build.mjs, which puts it into dist/cuda-kernels.bin. By hand,
// node msl/cuda/embed.mjs OUT.ptx writes the text itself, and that of the kernels on tensor cores if OUT ends in
// .tensor.ptx; without OUT it prints the fingerprint of the sources. Any clang with the NVPTX target does it, without
// NVIDIA's toolkit. CLANGXX names a clang to use instead of the first of the usual names.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import zlib from 'node:zlib';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Bytes of a text that clang may write; Node's own limit is 1 MiB. */
const mostBytes = 1 << 28;

// Volta and later; drivers compile it for newer GPUs when it is loaded. Every operation is rounded once, as written.
const flags = [
  ...['-x', 'cuda', '--cuda-path=/nonexistent', '--cuda-device-only', '--cuda-gpu-arch=sm_70'],
  ...['-nocudainc', '-nocudalib', '-nogpulib', '-std=c++17', '-O3', '-ffp-contract=off'],
  ...['-Xclang', '-target-feature', '-Xclang', '+ptx63', '-Wno-unknown-pragmas', '-Wno-unknown-attributes'],
  ...['-Wno-unknown-cuda-version', '-Wno-unused-function', '-S', '-I', folder, '-I', join(folder, '..')],
];

// Hopper and later. Clang does not read the instruction for tensor cores, and need not know these GPUs.
const forTensorCores = (ptx) => ptx.replace(/^\.version .*\n\.target .*/m, '.version 7.8\n.target sm_90');

function clangs() {
  const { CLANGXX } = process.env;
  if (CLANGXX) return [CLANGXX];
  return ['clang++', ...Array.from({ length: 12 }, (_, index) => `clang++-${25 - index}`)];
}

const shortened = (ptx) =>
  ptx
    .replace(/^\.visible \.entry (\w+)\([^]*?^\}/gm, (kernel, name) => kernel.replaceAll(`${name}_param_`, 'P'))
    .replace(/(?:\$L__|L)BB\d+_/g, 'L')
    .replace(/\/\/.*/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/, /g, ',')
    .replace(/(?:\n ?)+/g, '\n')
    .trimStart();

/**
 * PTX in which a number of a register is its place among the registers of its kind that were used last in the kernel,
 * or + where it is used for the first time. Compressed, it takes a third of the bytes. objc/cuda/registers.cc numbers
 * the registers again, from 0 in the order of their first use.
 */
export function coded(ptx) {
  const kinds = new Map();
  return ptx.replace(/%([a-z]+)(?:<\d+>|(\d+))/g, (word, kind, number) => {
    if (number === undefined) {
      kinds.set(kind, []);
      return word;
    }
    const used = kinds.get(kind);
    const place = used.indexOf(number);
    if (place >= 0) used.splice(place, 1);
    used.unshift(number);
    return `%${kind}${place < 0 ? '+' : place}`;
  });
}

/** The text, and that of the kernels on tensor cores, or the reason why there is none. */
export function makePtx() {
  let reason = 'No clang++ is found.';
  for (const clang of clangs()) {
    const made = (name) =>
      spawnSync(clang, [...flags, join(folder, name), '-o', '-'], { encoding: 'utf8', maxBuffer: mostBytes });
    const { status, stdout, stderr, error } = made('kernels.cu');
    if (error?.code === 'ENOENT') continue;
    if (status === 0) {
      const tensor = made('tensor-kernels.cu');
      if (tensor.status !== 0) throw new Error(`${clang} cannot make tensor-kernels.cu: ${tensor.stderr}`);
      return { ptx: shortened(stdout), tensorPtx: forTensorCores(shortened(tensor.stdout)), reason: '' };
    }
    const [first = String(error ?? '')] = (stderr ?? '').split('\n').filter((line) => /error/.test(line));
    reason = `${clang} cannot do it (${first.replace(folder, '')}).`;
  }
  return { ptx: '', tensorPtx: '', reason };
}

/** Tells kernels of different sources apart. An addon has that of its own, and uses no others. */
export function fingerprint() {
  const hash = createHash('sha256');
  for (const room of [folder, join(folder, '..')])
    for (const name of readdirSync(room).sort())
      if (/\.(?:metal|h|inc|cu)$|^metal_stdlib$|^embed\.mjs$/.test(name)) hash.update(readFileSync(join(room, name)));
  return hash.digest('hex').slice(0, 16);
}

/**
 * The file for lib/addon/cuda-kernels.ts: the fingerprint and both texts, coded and compressed by Brotli, after their
 * checksum.
 */
export function packed({ ptx, tensorPtx }) {
  const params = { [zlib.constants.BROTLI_PARAM_LGWIN]: zlib.constants.BROTLI_MAX_WINDOW_BITS };
  const bytes = zlib.brotliCompressSync(`//${fingerprint()}\n${coded(ptx + tensorPtx)}`, { params });
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(zlib.crc32(bytes));
  return Buffer.concat([checksum, bytes]);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [out] = process.argv.slice(2);
  if (out === undefined) console.log(fingerprint());
  else {
    const { ptx, tensorPtx, reason } = makePtx();
    if (reason !== '') throw new Error(reason);
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(out, out.endsWith('.tensor.ptx') ? tensorPtx : ptx);
  }
}
