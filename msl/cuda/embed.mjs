// Makes PTX of the kernels that the CUDA device runs, and a C++ header that holds it, compressed: node
// msl/cuda/embed.mjs OUT.h; or the text itself, if OUT ends in .ptx, and of those on tensor cores, if in .tensor.ptx.
// Any clang with the NVPTX target does it, without NVIDIA's toolkit. If there is none, the header says so, and the
// device is never available. CLANGXX names a clang to use instead of the first of the usual names.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

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
  const advice = 'Install clang, and `covarium build-native` builds one that has them.';
  let reason = `No clang++ was there to make its kernels when this addon was built. ${advice}`;
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
    reason = `${clang} could not make its kernels when this addon was built (${first.replace(folder, '')}). ${advice}`;
  }
  return { ptx: '', tensorPtx: '', reason };
}

const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };

function arrayOf(name, text) {
  const bytes = [...brotliCompressSync(text, { params })];
  const lines = [];
  while (bytes.length > 0) lines.push(`${bytes.splice(0, 24).join(',')},`);
  return `inline constexpr unsigned char ${name}[] = {\n${lines.join('\n')}\n};`;
}

/**
 * A C++ header with the texts, one after the other, coded and compressed by Brotli, as `covarium::cuda::compressedPtx`,
 * and the reason why there are none as `noPtxReason`, or ''.
 */
export function header({ ptx, tensorPtx, reason }) {
  return `// Made by msl/cuda/embed.mjs of msl/cuda/kernels.cu and tensor-kernels.cu.
#pragma once

namespace covarium::cuda {

${arrayOf('compressedPtx', coded(ptx + tensorPtx))}
inline constexpr char noPtxReason[] = ${JSON.stringify(reason)};

}  // namespace covarium::cuda
`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [out] = process.argv.slice(2);
  if (!out) throw new Error('The header to write is not named: node msl/cuda/embed.mjs OUT.h.');
  const made = makePtx();
  const text = out.endsWith('.tensor.ptx') ? made.tensorPtx : out.endsWith('.ptx') ? made.ptx : header(made);
  if (!existsSync(out) || readFileSync(out, 'utf8') !== text) {
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(out, text);
  }
}
