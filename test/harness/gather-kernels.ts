// Gathers public compute kernels in Metal for kernel-acceptance.ts, from clones that you make yourself:
// node --import tsx test/harness/gather-kernels.ts CLONES FOLDER. CLONES has each repository below as owner+name, or
// as owner+name/repo; missing ones are named and left out. None of their code is in this repository.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Collection {
  readonly name: string;
  readonly repository: string;
  readonly paths: RegExp;
  /** Files that the repository's own program puts before each text. */
  readonly prelude?: readonly string[];
  /** True if its program compiles all files as one text, in the order of their names. */
  readonly isJoined?: boolean;
  /** What separates several texts in one file. */
  readonly separator?: RegExp;
  /** Take every n-th of many similar files. */
  readonly each?: number;
}

const mnn = 'source/backend/metal/shader';
const collections: readonly Collection[] = [
  { name: 'a-h-gpu', repository: 'a-h/gpu', paths: /\.metal$/ },
  { name: 'candle', repository: 'huggingface/candle', paths: /\.(?:metal|h)$/ },
  { name: 'ggml', repository: 'ggml-org/ggml', paths: /metal\/.*\.(?:metal|h)$|ggml-common\.h$/ },
  { name: 'lambdaworks', repository: 'lambdaclass/lambdaworks', paths: /\.(?:metal|h)$/ },
  { name: 'mistral.rs', repository: 'EricLBuehler/mistral.rs', paths: /\.(?:metal|h)$/ },
  { name: 'mlx', repository: 'ml-explore/mlx', paths: /metal\/kernels\/|\.metal$/ },
  {
    ...{ name: 'mnn', repository: 'alibaba/MNN', paths: /\.metal$/ },
    prelude: [`${mnn}/MetalDefine.metal`, `${mnn}/MetalConvolutionActivation.metal`],
  },
  { name: 'naga', repository: 'gfx-rs/wgpu', paths: /\.(?:metal|msl)$/ },
  { name: 'spirv-cross', repository: 'KhronosGroup/SPIRV-Cross', paths: /^reference\/.*msl.*\// },
  {
    name: 'tint',
    repository: 'google/dawn',
    paths: /^test\/tint\/.*\.msl$/,
    separator: /^\/\/\n\/\/ \w+\n\/\/$/m,
    each: 13,
  },
  { name: 'torchao', repository: 'pytorch/ao', paths: /^torchao\/.*\.metal$/, isJoined: true },
  { name: 'zkmopro', repository: 'zkmopro/gpu-acceleration', paths: /\.(?:metal|h)$/ },
];

const [clones, folder] = process.argv.slice(2);
if (clones === undefined || folder === undefined) throw new Error('Pass the folder of the clones, and one to write.');

for (const { name, repository, paths, prelude = [], isJoined = false, separator, each = 1 } of collections) {
  const clone = join(clones, repository.replace('/', '+'));
  const path = existsSync(join(clone, 'repo')) ? join(clone, 'repo') : clone;
  if (!existsSync(path)) {
    console.log(`${name}: clone ${repository}`);
    continue;
  }
  const git = (...list: readonly string[]) =>
    execFileSync('git', ['-C', path, ...list], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const text = (file: string) => git('show', `HEAD:${file}`);
  const files = git('ls-tree', '-r', '--name-only', 'HEAD')
    .split('\n')
    .filter((file) => paths.test(file))
    .sort();
  const before = prelude.map(text).join('\n');
  const texts: [string, string][] = files.map((file) => [file, prelude.includes(file) ? '' : text(file)]);
  const whole: [string, string][] = isJoined ? [['all.metal', texts.map(([, one]) => one).join('\n')]] : texts;
  const seen = new Set<string>();
  let written = 0;
  for (const [file, one] of whole)
    (separator === undefined ? [one] : one.split(separator)).forEach((part, i) => {
      const hasKernel = /\bkernel\b/.test(part) && !file.endsWith('.h');
      if (separator !== undefined && !hasKernel) return;
      const key = createHash('sha256').update(part).digest('hex');
      if (hasKernel && seen.has(key)) return;
      seen.add(key);
      if (seen.size % each !== 0) return;
      const to = join(folder, name, separator === undefined ? file : `${file}.${i}.metal`);
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, before === '' ? part : `${before}\n${part}`);
      written++;
    });
  console.log(`${name}: ${written} files`);
}
