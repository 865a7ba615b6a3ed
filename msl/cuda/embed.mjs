// Makes PTX of the kernels that the CUDA device runs, and a C++ header that holds it, compressed: node
// msl/cuda/embed.mjs OUT.h; or the text itself, if OUT ends in .ptx. Any clang with the NVPTX target does it, without
// NVIDIA's toolkit. If there is none, the header says so, and the device is never available. CLANGXX names a clang to
// use instead of the first of the usual names.
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

function clangs() {
  const { CLANGXX } = process.env;
  if (CLANGXX) return [CLANGXX];
  return ['clang++', ...Array.from({ length: 12 }, (_, index) => `clang++-${25 - index}`)];
}

const withoutComments = (ptx) =>
  ptx
    .replace(/\/\/.*/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/, /g, ',')
    .replace(/(?:\n ?)+/g, '\n')
    .trimStart();

/** The text, or the reason why there is none. */
export function makePtx() {
  const advice = 'Install clang, and `covarium build-native` builds one that has them.';
  let reason = `No clang++ was there to make its kernels when this addon was built. ${advice}`;
  for (const clang of clangs()) {
    const args = [...flags, join(folder, 'kernels.cu'), '-o', '-'];
    const { status, stdout, stderr, error } = spawnSync(clang, args, { encoding: 'utf8', maxBuffer: mostBytes });
    if (error?.code === 'ENOENT') continue;
    if (status === 0) return { ptx: withoutComments(stdout), reason: '' };
    const [first = String(error ?? '')] = (stderr ?? '').split('\n').filter((line) => /error/.test(line));
    reason = `${clang} could not make its kernels when this addon was built (${first.replace(folder, '')}). ${advice}`;
  }
  return { ptx: '', reason };
}

/**
 * A C++ header with the text, compressed by Brotli, as `covarium::cuda::compressedPtx`, and the reason why there is
 * none as `noPtxReason`, or ''. So the addon has a tenth of the text's bytes, and the package half of what its own
 * compression would leave.
 */
export function header({ ptx, reason }) {
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  const bytes = [...brotliCompressSync(ptx, { params })];
  const lines = [];
  while (bytes.length > 0) lines.push(`${bytes.splice(0, 24).join(',')},`);
  return `// Made by msl/cuda/embed.mjs of msl/cuda/kernels.cu.
#pragma once

namespace covarium::cuda {

inline constexpr unsigned char compressedPtx[] = {
${lines.join('\n')}
};
inline constexpr char noPtxReason[] = ${JSON.stringify(reason)};

}  // namespace covarium::cuda
`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [out] = process.argv.slice(2);
  if (!out) throw new Error('The header to write is not named: node msl/cuda/embed.mjs OUT.h.');
  const made = makePtx();
  const text = out.endsWith('.ptx') ? made.ptx : header(made);
  if (!existsSync(out) || readFileSync(out, 'utf8') !== text) {
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(out, text);
  }
}
