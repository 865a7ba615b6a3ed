// What the published package, dist/, loads and when, without a TypeScript loader.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runNode } from '../harness/child.ts';
import { noCpu } from '../harness/cpu-backend.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const index = new URL('../../dist/lib/index.js', import.meta.url).href;
// Runs in another process, without a sanitizer and without a loader.
const loads = new URL('../harness/loaded-modules.mjs', import.meta.url).href;

interface Loaded {
  readonly modules: readonly string[];
  readonly libraries: readonly string[];
}

async function loadedBy(text: string): Promise<Loaded> {
  const program = `import { loadedModules } from '${loads}';
    console.log(JSON.stringify(loadedModules(${JSON.stringify(`import { listDevices, openDevice } from '${index}';\n${text}`)})));`;
  const { code, stdout, stderr } = await runNode(['--input-type=module', '--eval', program]);
  assert.is(code, 0, stderr);
  const { modules, libraries } = JSON.parse(stdout) as Loaded;
  return { modules: modules.map((path) => relative(root, path)), libraries };
}

/** Our modules in files of dist/: the bundler names each before its code. */
const sourcesOf = (modules: readonly string[]): string[] =>
  modules.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/^\/\/ (\S+\.(?:ts|m?js))$/gm)].map(([, source]) => source!),
  );

test("An import loads modules of lib/ alone, from two files: no dependency, no command line, no plot, no kernel's compiler, no writer of files, nothing native.", async () => {
  const { modules, libraries } = await loadedBy('');
  assert.equal(
    modules.filter((path) => !path.startsWith('dist/lib/')),
    [],
  );
  const sources = sourcesOf(modules);
  assert.ok(sources.includes('lib/normal/multivariate-normal.ts'), 'modules are seen');
  const rooms = /^lib\/(?:cli|plot|kernel\/cpu)\/|^lib\/compute\/(?!descriptor)/;
  const files = /^lib\/(?:addon\/build|kernel\/compile|file\/output|table\/(?:\w+-writer|npy))\.ts$/;
  assert.equal(
    sources.filter((path) => !path.startsWith('lib/') || rooms.test(path) || files.test(path)),
    [],
  );
  assert.is(modules.length, 2, `${modules}`);
  assert.equal(libraries, []);
});

test("An import loads none of Node's modules that take long to load and that only some programs need.", async () => {
  const program = `await import('${index}'); console.log(process.moduleLoadList.join());`;
  const { code, stdout, stderr } = await runNode(['--input-type=module', '--eval', program]);
  assert.is(code, 0, stderr);
  const names = stdout.split(',').map((name) => name.replace('NativeModule ', ''));
  assert.ok(names.includes('fs'), 'modules are seen');
  for (const name of ['crypto', 'worker_threads', 'child_process', 'zlib']) assert.not(names.includes(name), name);
});

test('Listing devices loads the addon and the code that finds it, and nothing else.', async () => {
  const { modules, libraries } = await loadedBy('listDevices();');
  const outside = modules.filter((path) => !path.startsWith('dist/lib/'));
  // node-gyp-build asks package.json for the package's name.
  const finder = ['index.js', 'node-gyp-build.js'].map((name) => `node_modules/node-gyp-build/${name}`);
  assert.equal(outside.sort(), [...finder, 'package.json']);
  if (noCpu === '')
    assert.ok(
      libraries.some((path) => path.endsWith('covarium.node')),
      `${libraries}`,
    );
});

test('The reference device needs nothing native.', async () => {
  const { modules, libraries } = await loadedBy("openDevice('reference').close();");
  assert.equal(
    modules.filter((path) => !path.startsWith('dist/lib/')),
    [],
  );
  assert.equal(libraries, []);
});

test.run();
