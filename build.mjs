// Builds what is missing or older than its sources: dist/ (its declarations by tsc, its code by esbuild, the plotting
// libraries included), dist/cuda-kernels.bin, and build/Release/covarium.node as `covarium build-native` does it for
// users.
// With --optional an addon that can't be built is said, and the reference device remains; without it, or if there is an
// addon of older sources, that is a failure.
// With --no-addon it is left to prebuilds.mjs.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeNotices } from './notices.mjs';

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL('.', import.meta.url));
// CommonJS packages (commander, cli-progress) require Node's modules, and an ES module has no such function. What else
// they ask for, in vain, is not there. createRequire would need the module's URL, which a bundle in CommonJS lacks.
const ownRequire = `const require = (name) => {
  const found = process.getBuiltinModule(name);
  if (found) return found;
  throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' });
};`;
const optional = process.argv.includes('--optional');

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(...readdirSync(path).map((name) => newest(join(path, name))), 0);
}

function isCurrent(product, sources) {
  return (
    existsSync(join(folder, product)) &&
    newest(join(folder, product)) >= Math.max(...sources.map((name) => newest(join(folder, name))))
  );
}

if (
  !isCurrent('dist/lib/index.js', [
    'lib',
    'bench',
    'binding.gyp',
    'tsconfig.json',
    'tsconfig.build.json',
    'build.mjs',
    'notices.mjs',
  ])
) {
  // Not the kernels, which have other sources and take clang ten seconds.
  rmSync(join(folder, 'dist/lib'), { recursive: true, force: true });
  const compiler = [require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, compiler, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  // What the addon includes of node-addon-api travels with the package, so that building it takes no other package.
  const headers = dirname(require.resolve('node-addon-api/package.json'));
  for (const name of ['napi.h', 'napi-inl.h', 'LICENSE.md'])
    cpSync(join(headers, name), join(folder, 'dist/node-addon-api', name));
  cpSync(join(folder, 'binding.gyp'), join(folder, 'dist/binding.gyp'));
  pruneDeclarations();
  await bundle();
}

/** The files of a room, TypeScript or declarations. */
function modulesOf(room) {
  const names = readdirSync(join(folder, room), { recursive: true });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, room, name));
}

/** Removes the declarations that those of the index do not reach, which no user's compiler reads. */
function pruneDeclarations() {
  const reached = new Set();
  const reach = (path) => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const [, name] of readFileSync(path, 'utf8').matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.ts['"]/g))
      reach(join(dirname(path), `${name}.d.ts`));
  };
  reach(join(folder, 'dist/lib/index.d.ts'));
  for (const path of modulesOf('dist/lib')) if (!reached.has(path)) rmSync(path);
}

/**
 * Puts the modules together into a few files: those that are always loaded together share one, for Node takes half a
 * millisecond to open each. What is imported as it is needed stays apart.
 */
async function bundle() {
  const { build, transform } = await import('esbuild');
  const { dependencies, peerDependencies, engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const target = engines.node.replace('>=', 'node');
  const shared = {
    absWorkingDir: folder,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target,
    // linkedom asks for canvas by require, and does without.
    external: [...Object.keys(dependencies), ...Object.keys(peerDependencies), 'canvas'],
    banner: { js: ownRequire },
    metafile: true,
    outdir: 'dist',
    outbase: '.',
    chunkNames: 'lib/chunks/[name]-[hash]',
    splitting: true,
  };
  const index = join(folder, 'lib/index.ts');
  const commands = join(folder, 'lib/cli/commands.ts');
  // esbuild puts modules into the same file if the same entries reach them, and what is imported as it is needed is an
  // entry too. Each entry imports the index here, so that all that the index loads is in one file.
  const entries = new Set([commands]);
  for (const path of ['lib', 'bench'].flatMap(modulesOf))
    for (const [, name] of readFileSync(path, 'utf8').matchAll(/\bimport\('(\.[^']+)'\)/g))
      entries.add(join(dirname(path), name));
  const oneIndex = {
    name: 'one file for the index',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, ({ path }) =>
        entries.has(path)
          ? { contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(index)};\n`, loader: 'ts' }
          : undefined,
      ),
  };
  const parser = {
    name: 'minified parser of kernels in TypeScript',
    setup: ({ onLoad }) =>
      onLoad({ filter: /[\\/]acorn[\\/]dist[\\/]acorn\.mjs$/ }, async ({ path }) => ({
        contents: (await transform(readFileSync(path, 'utf8'), { minify: true })).code,
        loader: 'js',
      })),
  };
  // A picture is built by calls: linkedom's parser of HTML only has to open the root, and those of selectors and of
  // style sheets are never called.
  const unneeded = {
    name: 'a document without parsers',
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /^(htmlparser2|css-select|cssom)$/ }, ({ path }) => ({ path, namespace: 'unneeded' }));
      onLoad({ filter: /./, namespace: 'unneeded' }, () => ({
        contents: `export class Parser {
            constructor(handler) { this.handler = handler; }
            write() { this.handler.onopentag('html', {}); }
            end() {}
          }
          export const parse = undefined, compile = undefined, is = undefined;`,
      }));
    },
  };
  const metafiles = [
    await build({ ...shared, entryPoints: [index, commands], plugins: [oneIndex, parser, unneeded] }),
    // It opens one file before those of the command are loaded.
    await build({ ...shared, entryPoints: ['lib/cli/main.ts'], external: ['*/commands.ts'] }),
    // For building the addon, here and by prebuilds.mjs.
    await build({ ...shared, entryPoints: ['build', 'node-gyp', 'stage'].map((name) => `lib/addon/${name}.ts`) }),
  ].map(({ metafile }) => metafile);
  for (const [path, { inputs }] of metafiles.flatMap(({ outputs }) => Object.entries(outputs))) {
    let text = readFileSync(join(folder, path), 'utf8');
    const [before, after] = text.split(ownRequire);
    if (after !== undefined && !/\brequire\b/.test(after)) text = before + after.trimStart();
    text = text.replace('import("./commands.ts")', 'import("./commands.js")');
    // esbuild calls a class that names itself _Matrix; it keeps the name under which it is exported.
    for (const [, name] of text.matchAll(/^var (\w+) = class _\1\b/gm))
      text = text.replaceAll(new RegExp(`\\b_${name}\\b`, 'g'), name);
    // The plotting libraries are large, and others' code to read.
    if ('lib/plot/library.ts' in inputs)
      text = (await transform(text, { format: 'esm', target, minify: true, lineLimit: 1000, legalComments: 'inline' }))
        .code;
    writeFileSync(join(folder, path), text);
  }
  writeNotices(
    metafiles.flatMap(({ inputs }) => Object.keys(inputs)),
    ['node-addon-api'],
  );
}

const kernels = 'dist/cuda-kernels.bin';
// The device exists on Linux alone.
if (process.platform === 'linux' && !isCurrent(kernels, ['msl'])) {
  const { makePtx, packed } = await import('./msl/cuda/embed.mjs');
  const made = makePtx();
  rmSync(join(folder, kernels), { force: true });
  if (made.reason === '') writeFileSync(join(folder, kernels), packed(made));
  else console.error(`The cuda device has no kernels: ${made.reason}`);
}

const addon = 'build/Release/covarium.node';
if (!process.argv.includes('--no-addon') && !isCurrent(addon, ['objc', 'msl', 'binding.gyp', 'package.json'])) {
  console.error('Building the native addon (a minute or two) ...');
  const { buildAddon } = await import('./dist/lib/addon/build.js');
  // The compilers have a process group of their own: a signal that ends this one is passed on to them.
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interruption.abort());
  try {
    const { signal } = interruption;
    await buildAddon({ output: join(folder, addon), signal, onFailure: (text) => console.error(text) });
  } catch (error) {
    if (interruption.signal.aborted) process.exit(130);
    if (error.name !== 'CovariumError') throw error;
    const isStale = existsSync(join(folder, addon));
    const without = 'the reference device in plain TypeScript works without it';
    console.error(`${error.message} ${isStale ? `${addon} is of older sources: delete it, and` : 'But'} ${without}.`);
    // What runs next would run code that is no longer there.
    if (!optional || isStale) process.exit(1);
  }
}
