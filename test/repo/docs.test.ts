// What the pages show works: their programs pass the type check and run, and their commands and files exist.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { modulePath, moduleUrl, nodeOptions, runNode } from '../harness/child.ts';
import { noCpu } from '../harness/cpu-backend.ts';
import { files, isThere, list, none, read } from '../harness/source-text.ts';
import { anchorsOf, type Block, blocksOf, linksOf, pages } from './markdown.ts';
import { shellMistakes } from './shell-commands.ts';

const folder = fileURLToPath(new URL('../..', import.meta.url));
// Loaded by `require`: for an import, Node searches its nine megabytes for export names, which takes a second.
const ts: typeof import('typescript') = createRequire(import.meta.url)('typescript');
const blocks = pages.flatMap((page) => blocksOf(page));
const of = (language: string) => blocks.filter((block) => block.language === language);
const at = ({ page, line }: Block) => `${page}:${line}`;

test('Blocks of code are found, and each has a language that is checked.', () => {
  const text = 'Words:\n\n    npm ci\n\nMore:\n\n```ts\nlet x;\n```\n\n   ```json\n   {}\n   ```\n';
  assert.equal(
    blocksOf('page', text).map(({ line, language, text }) => [line, language, text]),
    [
      [3, 'sh', 'npm ci'],
      [8, 'ts', 'let x;'],
      [12, 'json', '   {}'],
    ],
  );
  for (const language of ['sh', 'ts', 'text']) assert.ok(of(language).length > 0, language);
  // Text is not run: a diagram, or the output of a program.
  const known = ['sh', 'ts', 'json', 'metal', 'text'];
  none(
    blocks.filter(({ language }) => !known.includes(language)).map((block) => `${at(block)} (${block.language})`),
    'a block of another language',
  );
});

// The blocks of TypeScript of a page are one program, from top to bottom.
const programs = new Map<string, string>();
for (const { page, text } of of('ts')) programs.set(page, `${programs.get(page) ?? ''}${text}\n`);
const isComplete = (program: string) => /\bfrom 'covarium'/.test(program);

// Declarations that a page without a complete program may use.
const given = `
import type * as covarium from 'covarium';
declare global {
  const device: covarium.Device;
  const normal: covarium.MultivariateNormal;
}`;

/** The errors of tsc for programs, by name. */
function typeErrors(texts: ReadonlyMap<string, string>): string[] {
  const { config } = ts.readConfigFile(join(folder, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, folder);
  const loose = { noUnusedLocals: false, isolatedDeclarations: false, declaration: false, declarationMap: false };
  const paths = { covarium: [join(folder, 'lib/index.ts')] };
  const all = { ...options, ...loose, paths, noEmit: true };
  const sources = new Map([...texts].map(([name, text]) => [join(folder, `${name}.ts`), text]));
  const host = ts.createCompilerHost(all);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => sources.has(path) || fileExists(path);
  host.readFile = (path) => sources.get(path) ?? readFile(path);
  host.getSourceFile = (path, version, ...rest) => {
    const text = sources.get(path);
    return text === undefined ? getSourceFile(path, version, ...rest) : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([...sources.keys()], all, host);
  return [...sources.keys()].flatMap((path) => {
    const source = program.getSourceFile(path)!;
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText }) => `${path.slice(folder.length)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
  });
}

test('The TypeScript of each page passes the type check against lib.', () => {
  assert.ok(programs.size >= 2, 'programs are found');
  const module = (program: string) => (isComplete(program) ? program : `${program}export {};\n`);
  const texts = [...programs].map(([page, program]) => [page, module(program)] as const);
  const planted = ['planted', "import { openDevice } from 'covarium';\nopenDevice('gpu').draw();\n"] as const;
  const errors = typeErrors(new Map([...texts, ['given', given], planted]));
  assert.is(errors.filter((error) => error.startsWith('planted')).length, 2, 'a mistake is found');
  none(
    errors.filter((error) => !error.startsWith('planted')),
    'it is not TypeScript, or not of this version',
  );
});

// Kernels need the cpu device, and the tutorial needs a file and the command: other tests run them.
const runElsewhere: { readonly [page: string]: string } = {
  'docs/kernels.md': 'test/repo/kernels-page.test.ts',
  'docs/tutorial.md': 'test/repo/tutorial.test.ts',
  'docs/typescript-kernels.md': 'test/repo/kernels-page.test.ts',
};

/** Pages with a kernel, which needs the cpu device and a compiler. */
const onCpu = ['docs/cuda.md'];
if (noCpu !== '') console.log(`skipped  the programs of ${onCpu}: ${noCpu}`);

test('Whole programs run, on the reference device.', async () => {
  const whole = [...programs].filter(([page, program]) => isComplete(program) && runElsewhere[page] === undefined);
  assert.ok(whole.some(([page]) => page === 'README.md'));
  for (const [page, path] of Object.entries(runElsewhere))
    if (programs.has(page)) assert.match(read(path), page, `${path} runs ${page}`);
  const room = mkdtempSync(join(tmpdir(), 'covarium-docs-'));
  try {
    const lib = JSON.stringify(moduleUrl('lib/index.ts'));
    for (const device of ['cpu', 'reference']) {
      const here = whole.filter(([page]) => onCpu.includes(page) === (device === 'cpu'));
      if (device === 'cpu' && noCpu !== '') continue;
      // One process for all pages, which loads the library once; each page is a separate module.
      const all: string[] = [];
      for (const [page, program] of here) {
        const path = join(room, `${page.replaceAll(/[/.]/g, '-')}.mjs`);
        // Without types; the test below allows one page to have a few.
        const { code: plain } = await transform(program, { loader: 'ts' });
        writeFileSync(path, plain.replaceAll(/from ['"]covarium['"]/g, `from ${lib}`));
        all.push(`console.log('=== ${page}');\nawait import(${JSON.stringify(pathToFileURL(path).href)});\n`);
      }
      const path = join(room, 'all.mjs');
      writeFileSync(path, all.join(''));
      const { code, stdout, stderr } = await runNode([...nodeOptions, path], {
        ...process.env,
        COVARIUM_DEVICE: device,
      });
      const begun = [...stdout.matchAll(/^=== (.*)$/gm)].map(([, page]) => page);
      assert.is(code, 0, `${begun.at(-1)}: ${stderr}`);
      assert.is(begun.length, here.length);
    }
  } finally {
    rmSync(room, { recursive: true });
  }
});

test('Whole programs are plain JavaScript, which runs on the oldest Node when it is pasted: no types, no `using`.', async () => {
  const room = mkdtempSync(join(tmpdir(), 'covarium-pasted-'));
  try {
    const path = join(room, 'page.mjs');
    for (const [page, program] of programs) {
      // The functions of that page index arrays, which needs a `!` under strict checks.
      if (!isComplete(program) || page === 'docs/typescript-kernels.md') continue;
      assert.not.match(program, /\busing \w+ =/, page);
      writeFileSync(path, program);
      const { code, stderr } = await runNode(['--check', path]);
      assert.is(code, 0, `${page}: ${stderr}`);
    }
  } finally {
    rmSync(room, { recursive: true });
  }
});

test('Commands, their options, scripts and files exist.', async () => {
  const planted = ['covarium draw', 'covarium sample --rows 3', 'npm run fly', 'npm test -- unicorn', 'wget x'];
  for (const line of [...planted, 'node test/none.mjs', 'npm ci && node --import tsx lib/none.ts # why'])
    assert.is((await shellMistakes(line)).length, 1, line);
  assert.equal(await shellMistakes('sudo apt-get install -y x && npm ci # covarium fly'), []);
  const wrong: string[] = [];
  // A line may continue after a backslash.
  for (const block of of('sh'))
    for (const [index, line] of block.text
      .replace(/\\\n\s*/g, '')
      .split('\n')
      .entries())
      for (const mistake of await shellMistakes(line)) wrong.push(`${block.page}:${block.line + index}: ${mistake}`);
  none(wrong, 'it cannot be run');
});

test('Tests that a page names exist.', () => {
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/\btest\/[\w/.-]*\w(?=[\s,;:)|`])/g)].map(([path]) => ({ page, path })),
  );
  assert.ok(named.filter(({ page }) => page === 'SECURITY.md').length > 10);
  none(
    named.filter(({ path }) => !isThere(path)).map(({ page, path }) => `${page}: ${path}`),
    'it is not there',
  );
});

test('Each column of a table has a name.', () => {
  for (const page of pages)
    for (const [head] of read(page).matchAll(/^\|.*\|\n(?=\|[-:| ]+\|$)/gm))
      assert.ok(!/\| *\|/.test(head), `${page}: ${head}`);
});

test('JSON is JSON.', () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  assert.not(isJson('{ a: 1 }'));
  none(
    of('json')
      .filter(({ text }) => !isJson(text))
      .map(at),
    'it does not parse',
  );
});

test('Metal Shading Language on a page is part of a kernel that is tested.', () => {
  const plain = (text: string) => text.replace(/\s+/g, ' ').trim();
  const kernels = [...list('msl'), ...list('examples')]
    .filter((path) => path.endsWith('.metal'))
    .map((path) => plain(read(path)));
  assert.ok(kernels.length > 5);
  none(
    of('metal')
      .filter(({ text }) => !kernels.some((kernel) => kernel.includes(plain(text))))
      .map(at),
    'a kernel of no file',
  );
});

test('Links lead to files and headings.', () => {
  const api = list('docs/api');
  const broken = [...pages, 'CHANGELOG.md', ...api].flatMap((page) =>
    linksOf(page)
      .filter((link) => {
        const [path, anchor] = link.split('#') as [string, string?];
        return !isThere(path) || (anchor !== undefined && !anchorsOf(path).has(anchor));
      })
      .map((link) => `${page}: ${link}`),
  );
  assert.ok(linksOf('README.md').includes('docs/tutorial.md'));
  none(broken, 'its target does not exist');
  none(
    list('docs').filter(
      (path) =>
        path.endsWith('.md') && ![...pages, ...api].some((page) => linksOf(page).some((link) => link.startsWith(path))),
    ),
    'a page to which no other leads',
  );
});

test('The figures are those that docs/figures/draw.ts draws.', async () => {
  const room = mkdtempSync(join(tmpdir(), 'covarium-figures-'));
  try {
    const { code, stderr } = await runNode([...nodeOptions, modulePath('docs/figures/draw.ts'), room]);
    assert.is(code, 0, stderr);
    const drawn = readdirSync(room);
    assert.ok(drawn.length >= 4);
    none(
      drawn.filter((name) => readFileSync(join(room, name), 'utf8') !== read(`docs/figures/${name}`)),
      'a figure of another version: node --import tsx docs/figures/draw.ts',
    );
  } finally {
    rmSync(room, { recursive: true });
  }
});

test('Each production dependency and each bundled package is on the page about installing, with a reason.', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: object };
  const rows = [...read('docs/install.md').matchAll(/^\| `([\w/@-]+)` \| .{20,} \| .+ \|$/gm)].map(([, name]) => name);
  const imported = files
    .filter((path) => /^(lib|bench)\/.*\.ts$/.test(path))
    .flatMap((path) => [...read(path).matchAll(/^(?:(?:im|ex)port (?!type\b).*|\}) ?from '([^.'][^':]*)';$/gm)])
    .map(([, name]) => name!);
  assert.ok(imported.includes('commander'));
  assert.equal(rows.sort(), [...new Set([...Object.keys(dependencies), ...imported])].sort());
});

test('Every environment variable that is read is on a page, and no other.', () => {
  const variables = (path: string) => [...read(path).matchAll(/\bCOVARIUM_[A-Z_]+\b/g)].map(([name]) => name);
  const inCode = new Set([
    ...files.filter((path) => /^(lib|bench)\/.*\.ts$/.test(path)).flatMap(variables),
    ...files
      .filter((path) => /^objc\/.*\.(cc|mm|h)$/.test(path))
      .flatMap((path) => [...read(path).matchAll(/"(COVARIUM_[A-Z_]+)"/g)].map(([, name]) => name!)),
  ]);
  const onPages = new Set(pages.flatMap(variables));
  assert.ok(inCode.has('COVARIUM_BLAS') && inCode.has('COVARIUM_DEVICE'));
  none(
    [...inCode].filter((name) => !onPages.has(name)),
    'a variable that no page explains',
  );
  // Pages for contributors name switches of the tests too.
  const inTests = new Set(files.filter((path) => /^test\/.*\.(ts|mjs)$/.test(path)).flatMap(variables));
  none(
    [...onPages].filter((name) => !inCode.has(name) && !inTests.has(name)),
    'a variable that nothing reads',
  );
});

test.run();
