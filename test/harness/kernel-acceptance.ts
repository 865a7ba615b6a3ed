// How many Metal kernels of a folder the cpu device accepts: node --import tsx test/harness/kernel-acceptance.ts
// FOLDER [--list] [--check]. Each folder within FOLDER is a source; its files may be included. Prints how many
// kernels of each source are accepted, and the commonest reasons for refusals. Each text is compiled once, with all
// of its kernels; if that fails, some of its kernels are compiled alone and represent the rest. Nothing is run.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { headersFolder } from '../../lib/addon/file.ts';
import { constantsOf } from '../../lib/kernel/constants.ts';
import { findCompiler, flagsOf, runProgram } from '../../lib/kernel/cpu/compiler.ts';
import { translationUnit } from '../../lib/kernel/cpu/translation-unit.ts';
import { Source } from '../../lib/kernel/declarations.ts';
import { preprocess } from '../../lib/kernel/preprocess.ts';
import { kernelNames, signatureOf } from '../../lib/kernel/signature.ts';
import { includesOf, textsIn } from './kernel-texts.ts';

const [folder, ...options] = process.argv.slice(2);
if (folder === undefined) throw new Error('Pass a folder of Metal texts.');
const list = options.includes('--list');
const check = options.includes('--check');
const most = 4; // kernels of a text that are compiled alone

/** Values for all function constants of a text: 1, or true. */
function valuesOf(source: Source): { [name: string]: number } {
  const declared = source.declarations.filter(({ attributes }) =>
    attributes.some(([begin]) => source.text(begin) === 'function_constant'),
  );
  return Object.fromEntries(declared.map(({ nameAt }) => [source.text(nameAt), 1]));
}

const reasons = new Map<string, number>();

async function failure(source: Source, names: readonly string[]): Promise<string | undefined> {
  try {
    const values = valuesOf(source);
    const kernels = names.map((name) => signatureOf(source, name));
    const roots = kernels.flatMap((each) => each.roots);
    const unit = translationUnit(kernels, constantsOf(source, roots, values), check);
    const compiler = await findCompiler();
    const flags = flagsOf(compiler, check);
    const all = [...flags, '-fsyntax-only', '-I', join(headersFolder(), 'cpu'), '-'];
    const ended = await runProgram(compiler.path, all, unit);
    if (ended?.code === 0) return undefined;
    const line = ended?.stderr.split('\n').find((each) => /: (?:fatal )?error: /.test(each)) ?? String(ended?.stderr);
    return line;
  } catch (error) {
    return String((error as Error).message);
  }
}

const all = { accepted: 0, kernels: 0 };
for (const name of readdirSync(folder)) {
  const root = join(folder, name);
  const texts = textsIn(root);
  const found = { accepted: 0, kernels: 0 };
  for (const [path, text] of texts) {
    if (!/\bkernel\b/.test(text) || path.endsWith('.h')) continue;
    const includes = includesOf(texts, path);
    let source: Source;
    let names: string[];
    try {
      source = new Source(preprocess(text, path, includes).tokens);
      names = kernelNames(source);
    } catch (error) {
      const why = String((error as Error).message);
      found.kernels++;
      reasons.set(why, (reasons.get(why) ?? 0) + 1);
      if (list) console.log(`${name}/${path}: ${why}`);
      continue;
    }
    found.kernels += names.length;
    if (names.length === 0) continue;
    const whole = await failure(source, names);
    if (whole === undefined) {
      found.accepted += names.length;
      continue;
    }
    const step = Math.max(1, Math.ceil(names.length / most));
    const some = names.filter((_, i) => i % step === 0);
    const each = names.length === 1 ? [whole] : await Promise.all(some.map((one) => failure(source, [one])));
    const share = names.length / some.length;
    each.forEach((why, i) => {
      if (why === undefined) {
        found.accepted += share;
        return;
      }
      const short = why.replace(/^[^ ]*:\d+:\d+: /, '').slice(0, 160);
      reasons.set(short, (reasons.get(short) ?? 0) + share);
      if (list) console.log(`${name}/${path} ${some[i]}: ${why.slice(0, 300)}`);
    });
  }
  console.log(`${name}: ${Math.round(found.accepted)} of ${found.kernels} kernels`);
  all.accepted += found.accepted;
  all.kernels += found.kernels;
}
console.log(`all: ${Math.round(all.accepted)} of ${all.kernels} kernels`);
for (const [why, count] of [...reasons].sort((a, b) => b[1] - a[1]).slice(0, 25))
  console.log(`${Math.round(count)}  ${why}`);
