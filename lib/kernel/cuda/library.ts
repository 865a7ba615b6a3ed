import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { headersFolder } from '../../addon/file.ts';
import type { Backend } from '../../backend.ts';
import { CovariumError } from '../../covarium-error.ts';
import type { FunctionConstant } from '../constants.ts';
import { type CachedLibrary, cached, cacheKey } from '../cpu/cache.ts';
import { compilerAt, runProgram } from '../cpu/compiler.ts';
import { placeAttributes } from '../cpu/places.ts';
import type { Signature } from '../signature.ts';
import { errorAt } from '../tokens.ts';
import { translationUnit } from './translation-unit.ts';

/** For GPUs from Volta on. Nothing is fused, as on the CPU. */
const clangFlags = [
  ...['-x', 'cuda', '--cuda-path=/nonexistent', '--cuda-device-only', '--cuda-gpu-arch=sm_70', '-nocudainc'],
  ...['-nocudalib', '-nogpulib', '-nostdinc', '-nostdinc++', '-std=c++17', '-O3', '-ffp-contract=off', '-w', '-S'],
  ...['-Xclang', '-target-feature', '-Xclang', '+ptx63', '-ferror-limit=20', '-fno-caret-diagnostics'],
  ...['-fdiagnostics-color=never'],
];

/** What makes PTX of a text. */
interface Translator {
  readonly name: string;
  readonly ptxOf: (unit: string, folders: readonly string[]) => Promise<string>;
}

let headers: string | undefined;

/** The headers of a kernel, as text for its key: other headers make other PTX. */
function headersIn(folders: readonly string[]): string {
  headers ??= folders
    .flatMap((folder) => readdirSync(join(folder, 'library')).map((name) => join(folder, 'library', name)))
    .sort()
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  return headers;
}

/** NVRTC, or else the clang++ that `COVARIUM_CXX` names or that is found. Throws `ERR_NO_COMPILER`. */
async function translatorFor(backend: Backend): Promise<Translator> {
  const nvrtc = await backend.translator();
  if (nvrtc !== '') return { name: nvrtc, ptxOf: (unit, folders) => backend.translate(unit, folders) };
  const { COVARIUM_CXX: chosen = '' } = process.env;
  const clang = await compilerAt(chosen === '' ? 'clang++' : chosen);
  if (clang === undefined || !clang.isClang)
    throw new CovariumError('ERR_NO_COMPILER', 'Neither libnvrtc.so nor clang++ is found, which make kernels for it.');
  return {
    name: `${clang.path} ${clang.version}`,
    ptxOf: async (unit, folders) => {
      const flags = [...clangFlags, ...folders.flatMap((folder) => ['-I', folder]), '-o', '-', '-'];
      const ended = await runProgram(clang.path, flags, unit);
      // Calls of functions that only NVIDIA's library has are left open.
      if (ended?.code === 0 && !/^\.extern \.func/m.test(ended.stdout)) return ended.stdout;
      throw new CovariumError('ERR_KERNEL_COMPILE', ended?.stderr.trim() || 'clang++ has not all of its functions.');
    },
  };
}

/**
 * A file of PTX with one kernel. Throws `ERR_NO_COMPILER`, `ERR_UNSUPPORTED` for a position that no device but `metal`
 * knows, and `ERR_KERNEL_COMPILE` with the compiler's output.
 */
export async function ptxOf(
  backend: Backend,
  signature: Signature,
  constants: readonly FunctionConstant[],
): Promise<CachedLibrary> {
  for (const { kind, attribute, name, token } of signature.parameters)
    if (kind === 'place' && !placeAttributes.includes(attribute))
      throw errorAt(token, `Argument (${name}) has an unknown attribute (${attribute})`);
  const { name, ptxOf: make } = await translatorFor(backend);
  const folders = [join(headersFolder(), 'cuda'), join(headersFolder(), 'cpu')];
  const unit = translationUnit(signature, constants);
  const key = cacheKey(unit, headersIn(folders), clangFlags.join(' '), name);
  return cached(key, async (path) => writeFile(path, await make(unit, folders)), '.ptx');
}
