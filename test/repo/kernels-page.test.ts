// docs/kernels.md and docs/typescript-kernels.md are programs: their blocks of TypeScript run from top to bottom, and
// print what the page says.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { moduleUrl, nodeOptions, runNode } from '../harness/child.ts';
import { noCpu } from '../harness/cpu-backend.ts';

const textOf = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const page = textOf('kernels.md');

/** What a block says that it prints: in a comment behind a console.log, or in comment lines after it. */
function printedBy(block: string): string[] {
  let follows = false;
  return block.split('\n').flatMap((line) => {
    const [, behind] = /^console\.log\(.*\);(?: \/\/ (.*))?$/.exec(line) ?? [];
    const [, below] = (follows ? /^\/\/ ?(.*)$/.exec(line) : null) ?? [];
    follows = /^console\.log\(/.test(line) || below !== undefined;
    return [behind, below].filter((text) => text !== undefined);
  });
}

if (noCpu !== '') console.log(`skipped  the page of the kernels: ${noCpu}`);
else
  for (const [name, least] of [
    ['kernels.md', 8],
    ['typescript-kernels.md', 3],
  ] as const)
    test(`The blocks of ${name} run on the cpu device, and print what it says.`, async () => {
      const blocks = [...textOf(name).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
      assert.ok(blocks.length >= least, `${blocks.length} blocks`);
      const expected = blocks.flatMap(printedBy);
      assert.ok(expected.length >= least, expected.join('\n'));
      const folder = mkdtempSync(join(tmpdir(), 'covarium-page-'));
      try {
        const program = join(folder, 'page.mjs');
        const { code: plain } = await transform(blocks.join('\n'), { loader: 'ts' });
        writeFileSync(
          program,
          plain.replaceAll(/from ['"]covarium['"]/g, `from ${JSON.stringify(moduleUrl('lib/index.ts'))}`),
        );
        const { code, stdout, stderr } = await runNode([...nodeOptions, program], {
          ...process.env,
          COVARIUM_DEVICE: 'cpu',
        });
        assert.is(code, 0, stderr);
        assert.equal(stdout.split('\n'), expected);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

test('The codes on the page are those of covarium.', () => {
  const codes = new Set(page.match(/\bERR_\w+/g));
  const known = readFileSync(new URL('../../lib/covarium-error.ts', import.meta.url), 'utf8');
  assert.ok(codes.size >= 8);
  for (const code of codes) assert.ok(known.includes(`'${code}'`), code);
});

test.run();
