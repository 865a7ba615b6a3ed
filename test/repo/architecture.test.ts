// What each room may import, include or catch. The test reads the sources, so that an import in the wrong direction
// fails here and not in a review.
import { dirname, extname } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  code,
  importsOf,
  includesOf,
  isThere,
  lib,
  list,
  namedModulesOf,
  none,
  reachedFrom,
  sources,
  staticImportsOf,
} from '../harness/source-text.ts';

const under = (path: string, ...places: string[]) => places.some((place) => path.startsWith(place));

test('The rooms are where this test looks.', () => {
  for (const path of [
    'lib/index.ts',
    'lib/addon/native.ts',
    'lib/backend.ts',
    'objc/device.h',
    'msl/params.h',
    'binding.gyp',
  ])
    assert.ok(isThere(path), path);
  assert.ok(includesOf('objc/addon/device.cc').quoted.includes('objc/addon/device.h'));
  assert.ok(importsOf('lib/open-device.ts').includes('lib/addon/native.ts'), 'imports are read');
  assert.ok(!importsOf('lib/dtype.ts').some((name) => name.includes('type')));
});

/**
 * The floors of lib, top to bottom: a room imports only lower rooms, types included. Rooms on one line do not import
 * each other. The files at the root have floors, too: the public entry points are above what they make, and every
 * room may import the ground.
 */
const floors: readonly (readonly string[])[] = [
  ['index.ts'],
  ['cli'],
  ['run'],
  ['open-device.ts'],
  ['list-devices.ts'],
  ['student-t'],
  ['normal'],
  ['distribution'],
  ['factor'],
  ['moments'],
  ['device.ts'],
  ['decomposition'],
  ['compute'],
  ['command'],
  ['kernel'],
  ['table', 'plot'],
  ['array'],
  ['reference', 'addon'],
  ['probability'],
  ['stream'],
  ['file'],
  ['backend-handle.ts', 'versions.ts'],
  ['work.ts'],
  ['node-require.ts'],
  ['slab.ts'],
  ['backend.ts'],
  ['dtype.ts', 'typed-number.ts'],
  ['check.ts'],
  ['covarium-error.ts'],
];

test('A room of lib imports only rooms on lower floors.', () => {
  const roomOf = (path: string) => path.split('/')[1]!;
  const floorOf = (path: string) => floors.findIndex((rooms) => rooms.includes(roomOf(path)));
  none(
    lib.filter((path) => floorOf(path) < 0),
    'every room and every file of the root has its floor',
  );
  none(
    floors.flat().filter((room) => !lib.some((path) => roomOf(path) === room)),
    'a room that is gone',
  );
  const arrows = lib.flatMap((path) =>
    namedModulesOf(path)
      .filter((name) => name.startsWith('lib/') && roomOf(name) !== roomOf(path))
      .map((name) => ({ path, name })),
  );
  assert.ok(arrows.length > 300, 'imports are read');
  assert.ok(
    arrows.some(({ path, name }) => path === 'lib/normal/parameters.ts' && name === 'lib/command/task.ts'),
    'types too',
  );
  none(
    arrows.filter(({ path, name }) => floorOf(name) <= floorOf(path)).map(({ path, name }) => `${path} -> ${name}`),
    'arrows go down',
  );
});

test('No module of lib imports itself, not even indirectly.', () => {
  none(
    lib.filter((path) =>
      namedModulesOf(path).some(
        (name) => name.startsWith('lib/') && reachedFrom(name, new Set(), namedModulesOf).has(path),
      ),
    ),
    'a circle',
  );
});

test('A module that lib loads on demand is loaded by loading(), which names a failure: Node never tries again.', () => {
  // lib/plot/png.ts itself names the package that is missing, and lib/cli/main.ts loads nothing before it loads all.
  const others = lib.filter((path) => path !== 'lib/plot/png.ts' && path !== 'lib/cli/main.ts');
  none(
    others.filter((path) =>
      code(path)
        .replace(/\bloading\(\s*(Promise\.all\(\[[^\]]*|import\()/g, '')
        .includes(' import('),
    ),
    'an import() of its own',
  );
});

test('Only objc/addon uses Node-API.', () => {
  none(
    sources.filter((path) => !under(path, 'objc/addon/') && /\bnapi\b|<napi\.h>|\bNapi::|napi_/.test(code(path))),
    'no napi outside objc/addon',
  );
});

test('Only objc/addon catches; others only carry an exception to another thread.', () => {
  // Each of these passes the exception on: it is thrown again where the caller waits.
  const carriers: { readonly [path: string]: string } = {
    'objc/cpu/pool.cc': 'a worker hands what a task throws to the thread that runs the job',
    'objc/cpu/command-buffer.cc': "the queue's thread hands what a command throws to the commit's completion",
    'objc/cpu/cholesky.cc': 'a thread wakes those that wait for its tile, and throws again',
    'objc/gpu/queue.cc': "the queue's thread, or Metal's, hands what a part throws to the commit's completion",
  };
  // These turn an exception from opening or testing a device into the reason why the device, one of several GPUs, or
  // one of the device's kernels is not available.
  const judges = ['objc/gpu/candidate.h', 'objc/cuda/candidate.cc', 'objc/cuda/device.cc', 'objc/gpu/self-test.cc'];
  // These add the index of the matrix to a failure, and rethrow the failure of the first matrix.
  const naming = ['objc/cpu/batch.cc', 'objc/gpu/refused-model.cc'];
  const others = [...judges, ...naming];
  none(
    sources.filter(
      (path) =>
        !under(path, 'objc/addon/') && !carriers[path] && !others.includes(path) && /\bcatch\s*\(/.test(code(path)),
    ),
    'a catch that is not on the list',
  );
  for (const path of [...Object.keys(carriers), ...others])
    assert.match(code(path), /\bcatch\s*\(/, `${path} no longer catches: take it off the list`);
  // With GNUstep, a catch in Objective-C++ ends the process.
  none(
    sources.filter((path) => path.endsWith('.mm') && /\bcatch\s*\(|@catch|@try/.test(code(path))),
    'Objective-C++ throws and never catches',
  );
  for (const path of Object.keys(carriers)) {
    none(
      [...code(path).matchAll(/catch\s*\(([^)]*)\)\s*\{([^}]*)/g)]
        .filter(([, what, body]) => what !== '...' || !/current_exception\(\)|\bthrow;/.test(body!))
        .map(([text]) => `${path}: ${text}`),
      'a carrier keeps every exception whole',
    );
  }
});

test('The contract in objc/ is plain C++.', () => {
  const headers = list('objc').filter((path) => dirname(path) === 'objc');
  assert.ok(headers.length >= 3);
  for (const path of headers) {
    assert.is(extname(path), '.h', `${path} is a header`);
    const { quoted, system } = includesOf(path);
    none(
      quoted.filter((name) => dirname(name) !== 'objc'),
      `${path} includes the contract only`,
    );
    none(
      system.filter((name) => /[./]/.test(name)),
      `${path} includes the standard library only`,
    );
    assert.not.match(code(path), /@interface|@class|@protocol|\bid<|#import|__bridge/);
  }
});

test('A room includes only rooms on lower floors.', () => {
  const arrows: { readonly [room: string]: readonly string[] } = {
    'objc/addon/': ['objc/addon/', 'objc/table/', 'objc/device.h', 'objc/buffer.h', 'objc/failure.h'],
    'objc/table/': ['objc/table/'],
    // condition.h and memory.h do not depend on kernels: a wait that older libraries have too, and the machine's
    // memory.
    'objc/gpu/': [
      ...['objc/gpu/', 'objc/device.h', 'objc/buffer.h', 'objc/failure.h'],
      ...['objc/cpu/condition.h', 'msl/params.h'],
    ],
    'objc/cuda/': [
      ...['objc/cuda/', 'objc/gpu/', 'objc/device.h', 'objc/buffer.h', 'objc/failure.h'],
      ...['objc/launch.h', 'objc/cpu/memory.h', 'msl/radial-scale.h'],
    ],
    'objc/cpu/': ['objc/cpu/', 'objc/device.h', 'objc/buffer.h', 'objc/failure.h', 'objc/launch.h', 'msl/'],
    // shader-source.h is made at build time, by msl/embed.mjs.
    'objc/metal/': [
      'objc/metal/',
      'objc/gpu/',
      'objc/device.h',
      'objc/buffer.h',
      'objc/failure.h',
      'objc/launch.h',
      'shader-source.h',
    ],
    'msl/': ['msl/'],
  };
  for (const [room, allowed] of Object.entries(arrows))
    for (const path of sources.filter((each) => each.startsWith(room)))
      none(
        includesOf(path).quoted.filter((name) => !under(name, ...allowed)),
        `${path} includes what it may`,
      );
  none(
    sources.filter(
      (path) => !under(path, 'objc/metal/') && /<(Metal|Foundation|MetalPerformanceShaders)\//.test(code(path)),
    ),
    "only objc/metal uses Apple's frameworks, except Accelerate",
  );
  none(
    list('objc').filter((path) => path.endsWith('.mm') && !under(path, 'objc/metal/')),
    'only objc/metal has Objective-C++',
  );
});

test('Objects of Objective-C are owned by Owned and pools are RAII.', () => {
  const metal = sources.filter((path) => under(path, 'objc/metal/') && path !== 'objc/metal/owned.h');
  assert.ok(metal.some((path) => path.endsWith('.mm')));
  none(
    metal.filter((path) => /\b(?:auto)?release\]|\bretain\]|@autoreleasepool|NSAutoreleasePool/.test(code(path))),
    'no other code has retain, release or a pool',
  );
});

test('Kernels include nothing from outside msl/.', () => {
  // msl/cpu and msl/cuda compile the kernels.
  const kernels = list('msl').filter((path) => !under(path, 'msl/cpu/', 'msl/cuda/'));
  assert.ok(kernels.some((path) => path.endsWith('.metal')));
  none(
    kernels
      .flatMap((path) => includesOf(path).system.map((name) => `${path}: ${name}`))
      .filter((text) => !text.endsWith(': metal_stdlib')),
    'only <metal_stdlib>',
  );
  none(
    kernels
      .flatMap((path) => includesOf(path).quoted.map((name) => `${path}: ${name}`))
      .filter((text) => !/: msl\/[\w-]+\.h$/.test(text)),
    'only headers of msl itself',
  );
});

test('lib/ reaches the addon only through lib/addon/native.ts.', () => {
  none(
    lib.filter((path) => path !== 'lib/addon/file.ts' && /node-gyp-build|process\.dlopen/.test(code(path))),
    'only lib/addon/file.ts knows where the addon is',
  );
  const builders = ['lib/cli/build-native.ts', 'lib/addon/build.ts'];
  none(
    lib.filter((path) => !under(path, ...builders) && /\.node['"`]/.test(code(path))),
    'and only those who build it name its file',
  );
  none(
    lib.filter((path) => path !== 'lib/addon/native.ts' && /(?<!function )\bfindAddon\(/.test(code(path))),
    'only lib/addon/native.ts loads the addon',
  );
  none(
    lib.filter((path) => importsOf(path).some((name) => under(name, 'test/', 'examples/', 'objc/', 'msl/'))),
    'lib imports lib',
  );
  // The command loads the benchmark's code on demand, so that no other command waits for it.
  none(
    lib.filter((path) => !under(path, 'lib/cli/') && importsOf(path).some((name) => under(name, 'bench/'))),
    'only lib/cli knows the benchmark',
  );
  none(
    lib.filter((path) => /\bfrom\s*'[^']*\/bench\//.test(code(path).replace(/\bimport type [^;]*;/g, ''))),
    'and imports it on demand',
  );
  assert.ok(importsOf('lib/cli/bench.ts').some((name) => under(name, 'bench/')));
  assert.ok(importsOf('lib/cli/compare.ts').some((name) => under(name, 'bench/')));
  none(
    list('lib/reference').filter((path) => importsOf(path).some((name) => under(name, 'lib/addon/'))),
    'the reference device is plain TypeScript',
  );
});

test('Loading the package loads neither the command line nor the addon.', () => {
  const reached = [...reachedFrom('lib/index.ts')];
  assert.ok(reached.length > 20, 'the walk reaches many modules');
  none(
    reached.filter((path) => under(path, 'lib/cli/', 'lib/addon/build.ts')),
    'lib/index.ts reaches neither lib/cli nor lib/addon/build.ts',
  );
  // The libraries of the formats are loaded on demand, too.
  const packages = [...reachedFrom('lib/index.ts', new Set(), staticImportsOf)].flatMap((path) =>
    staticImportsOf(path)
      .filter((name) => !/^(lib\/|node:)/.test(name))
      .map((name) => `${path}: ${name}`),
  );
  none(packages, 'lib/index.ts loads only our own code at once');
  assert.ok(importsOf('lib/table/read-table.ts').includes('lib/table/parquet-reader.ts'));
  // The addon is loaded on demand: outside of functions, lib/addon/native.ts requires nothing.
  none(
    lib.filter((path) =>
      /^(?:const|let|export const|await)\b[^\n]*\b(?:loadAddon|nativeCandidates|listDevices|require)\(/m.test(
        code(path),
      ),
    ),
    'no module loads the addon when it is loaded itself',
  );
  assert.not(importsOf('lib/index.ts').includes('lib/addon/native.ts'));
});

test('Tests, benchmarks and examples use lib from outside.', () => {
  none(
    [...list('bench'), ...list('examples')]
      .filter((path) => path.endsWith('.ts'))
      .filter((path) => importsOf(path).some((name) => under(name, 'test/', 'objc/', 'build/', 'lib/cli/'))),
    'bench and examples import lib, and not the command over them',
  );
});

test.run();
