// Compiles tests and what they import once, by esbuild, so that no process has to: with tsx, each process would spend
// most of a second on the modules of lib.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { lib, read } from './source-text.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Modules that tests load in other processes and threads: `modulePath` and `moduleUrl` in child.ts. */
const loadedElsewhere = [
  'bench/peers/process-peer.ts',
  'docs/figures/draw.ts',
  'examples/penguins.ts',
  'lib/cli/interruption.ts',
  'lib/file/folder.ts',
  'lib/file/output.ts',
  'lib/file/temporary-name.ts',
  'lib/run/drawn-rows.ts',
  'lib/run/run.ts',
  'test/cuda/kernel-shapes.ts',
  'test/metal/softmetal/softmetal.ts',
  'test/harness/mutate-files.ts',
];

/** Those that most processes load. As in dist/, all that the index loads is in one file, and opens sooner. */
const library = ['lib/index.ts', 'lib/addon/native.ts'];

/** Those that start a hundred times. They share no chunks with others, so that a start opens few files. */
const startedOften = [
  'lib/cli/main.ts',
  'examples/run.ts',
  'test/harness/faulty-writes.ts',
  'test/metal/softmetal/compile.ts',
];

/** Tests that test/contract/external-buffers.test.ts runs. */
const runAgain = ['command/command-buffer', 'array/matrix', 'normal/multivariate-normal', 'array/volume'].map(
  (name) => `test/${name}.test.ts`,
);

/** The plotting libraries, bundled because they have hundreds of files, which each `covarium plot` would open. */
const plotting = ['@observablehq/plot', 'linkedom'];
/** Packages that each start of the command would open. */
const ofCommand = ['commander', 'picocolors', 'cli-progress'];
/** They are CommonJS and load modules of Node by `require`; as in build.mjs. */
const ownRequire = `const require = (name) => {
  const found = process.getBuiltinModule(name);
  if (found) return found;
  throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' });
};`;

/** All packages except those. */
function leftToNode(bundled: readonly string[]): string[] {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const { dependencies, devDependencies } = JSON.parse(text) as Record<string, Record<string, string>>;
  // linkedom tries to require canvas, and works without it.
  return [...Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !bundled.includes(name)), 'canvas'];
}

/**
 * Compiles `tests`, relative to the repository like all paths here, into `folder`, which must lie in it;
 * test/x/y.test.ts becomes test/x/y.test.js.
 */
export async function compile(tests: readonly string[], folder: string): Promise<void> {
  await bundle([...new Set([...tests, ...runAgain])], folder);
  // Bundled separately: otherwise each start of the command would load a hundred chunks that tests share.
  await bundle(loadedElsewhere, folder);
  await bundle(library, folder, true);
  for (const program of startedOften) await bundle([program], folder, true);
}

// How esbuild keeps names. Tests print those of classes, but naming a function that an inner loop makes can take
// longer than calling it.
const naming = /(var __name ?= ?\(target, ?value\) ?=> ?)(?=__defProp\()/;
const namingOfClasses = '$1target.prototype === undefined ? target : ';

/** Modules of lib/ that are imported as they are needed. Those that import the index share its file (build.mjs). */
const neededLate = new Set(
  lib.flatMap((path) =>
    [...read(path).matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, name]) => join(root, dirname(path), name!)),
  ),
);

async function bundle(entryPoints: string[], folder: string, isProgram = false): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: relative(root, folder),
    outbase: '.',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: `node${process.versions.node}`,
    external: leftToNode(isProgram ? [...plotting, ...ofCommand] : plotting),
    ...(isProgram && { banner: { js: ownRequire }, minifyWhitespace: true }),
    // As in dist/, because messages and console.log name classes.
    keepNames: true,
    sourcemap: true,
    metafile: true,
    logLevel: 'error',
    plugins: [
      {
        // A module finds files beside its source, wherever its code lies.
        name: 'import.meta of the source',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.(?:ts|mjs)$/ }, ({ path }) => {
            const text = readFileSync(path, 'utf8')
              .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
              .replaceAll('import.meta.filename', JSON.stringify(path));
            const isLate = entryPoints === library && neededLate.has(path);
            return {
              contents: isLate ? `${text}\nimport ${JSON.stringify(join(root, 'lib/index.ts'))};` : text,
              loader: path.endsWith('.ts') ? 'ts' : 'js',
            };
          }),
      },
    ],
  });
  for (const path of Object.keys(metafile.outputs).filter((name) => name.endsWith('.js'))) {
    const text = readFileSync(join(root, path), 'utf8');
    if (naming.test(text)) writeFileSync(join(root, path), text.replace(naming, namingOfClasses));
  }
}
