// Runs public kernels on the cpu device, as they are and in check mode, and compares what they write with independent
// expectations: node --import tsx test/harness/kernel-expectations.ts FOLDER [PART OF A NAME]. FOLDER is what
// gather-kernels.ts wrote. Prints what is wrong, and ends with code 1 if anything is.
import { join } from 'node:path';
import { type Device, openDevice } from '../../lib/index.ts';
import { all } from './expectations/all.ts';
import { type Expectation, memory, read, Written } from './expectations/expectation.ts';
import { includesOf, textsIn } from './kernel-texts.ts';

/** What is wrong with what a kernel writes; undefined if nothing is. */
export async function unmet(
  device: Device,
  text: string,
  { kernel: name, grid, threadgroup, constants, layouts, arguments: given }: Expectation,
  options: { readonly path: string; readonly includes?: { [name: string]: string }; readonly check: boolean },
): Promise<string | undefined> {
  const kernel = await device.kernel(text, { name, ...options, constants, layouts });
  const written: [string, Written, Uint8Array][] = [];
  const passed = Object.entries(given).map(([argument, value]) => {
    if (!(value instanceof Written)) return [argument, value] as const;
    const { type, before, expected } = value;
    const values = memory(type, before.length > 0 ? before : new Array(expected.length).fill(0));
    const holds = new Uint8Array(values.buffer);
    written.push([argument, value, holds]);
    const { type: declared } = kernel.arguments.find(({ name: each }) => each === argument)!;
    return [argument, /^(?:u?char|void)$/.test(declared) ? holds : values] as const;
  });
  await kernel.run({ grid, threadgroup, arguments: Object.fromEntries(passed) } as Parameters<typeof kernel.run>[0]);
  for (const [argument, { type, expected, tolerance }, holds] of written) {
    const values = read(type, holds);
    const largest = Math.max(...expected.map((value) => (Number.isFinite(value) ? Math.abs(value) : 0)), 1e-30);
    const wrong = expected.findIndex(
      (value, i) =>
        !Number.isNaN(value) &&
        !Object.is(value + 0, values[i]! + 0) &&
        !(Math.abs(value - values[i]!) <= tolerance * largest),
    );
    if (wrong >= 0) return `${argument}[${wrong}] is ${values[wrong]}, not ${expected[wrong]}`;
  }
  return undefined;
}

async function main([folder, part = '']: readonly string[]): Promise<void> {
  if (folder === undefined) throw new Error('Pass a folder that gather-kernels.ts wrote.');
  using device = openDevice('cpu', { threads: 2 });
  const count = { right: 0, wrong: 0, missing: 0 };
  for (const source of new Set(Object.keys(all).map((file) => file.split('/')[0]!))) {
    const texts = textsIn(join(folder, source));
    for (const [file, expectations] of Object.entries(all).filter(([each]) => each.startsWith(`${source}/`))) {
      const path = file.slice(source.length + 1);
      const text = texts.get(path);
      for (const expectation of expectations) {
        const name = `${file} ${expectation.kernel}`;
        if (!name.includes(part)) continue;
        if (text === undefined) {
          count.missing++;
          console.log(`missing: ${name}`);
          continue;
        }
        const reasons: string[] = [];
        for (const check of [false, true]) {
          const options = { path, includes: includesOf(texts, path), check };
          const refusal = check ? expectation.refusal : undefined;
          const why = await unmet(device, text, expectation, options).catch((error) => String(error.message));
          if (refusal === undefined ? why !== undefined : !why?.includes(refusal))
            reasons.push(`${check ? 'checked: ' : ''}${why ?? `not refused (${refusal})`}`);
        }
        count[reasons.length === 0 ? 'right' : 'wrong']++;
        if (reasons.length > 0) console.log(`wrong: ${name}: ${reasons.join('; ').slice(0, 600)}`);
      }
    }
  }
  console.log(`${count.right} kernels right, ${count.wrong} wrong, ${count.missing} missing`);
  if (count.wrong > 0) process.exitCode = 1;
}

if (process.argv[1]?.endsWith('kernel-expectations.ts')) await main(process.argv.slice(2));
