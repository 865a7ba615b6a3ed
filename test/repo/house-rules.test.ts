// Rules of the repository: sizes and names of files, what is built, what is tested.
import { basename } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { files, isThere, lib, list, namedModulesOf, none, reachedFrom, read } from '../harness/source-text.ts';

test('Files are not too long.', () => {
  const text = files.filter((path) => /\.(ts|mjs|cc|mm|h|metal)$/.test(path) || basename(path) === 'metal_stdlib');
  const lines = (path: string) => read(path).split('\n').length - 1;
  // Classes with many thin methods, their docstrings and synchronous twins: each is one concept.
  const faces = [
    'lib/normal/multivariate-normal.ts',
    'lib/normal/multivariate-normal-batch.ts',
    'lib/student-t/multivariate-student-t.ts',
  ];
  const most = (path: string) => (path.startsWith('test/') ? 450 : faces.includes(path) ? 650 : 400);
  none(
    text
      .filter((path) => lines(path) > most(path))
      .map((path) => `${path} has (${lines(path)}) lines, of at most (${most(path)})`),
    'a long file holds more than one concept: move one to a file of its own',
  );
});

test('No file or folder has a name without a subject.', () => {
  const drawer = /^(utils?|helpers?|commons?|misc|core|types?|shared|stuff)$/;
  none(
    files.filter((path) => path.split('/').some((part) => drawer.test(part.split('.')[0]!))),
    'name it after its subject',
  );
  none(
    lib.filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(basename(path))),
    'files are kebab-case',
  );
});

// Types are exported that functions name in their signatures, even if no file imports them.
test('What is exported, types aside, is used in another file.', () => {
  const modules = files.filter((path) => /\.m?[jt]s$/.test(path));
  const users = new Map<string, number>();
  for (const path of modules)
    for (const word of new Set(read(path).match(/[A-Za-z_$][\w$]*/g))) users.set(word, (users.get(word) ?? 0) + 1);
  const exported = /^export (?:async )?(?:abstract )?(?:function\*?|const|let|class) (\w+)/gm;
  none(
    modules
      .filter((path) => /^(?:lib|bench|test\/harness)\//.test(path))
      .flatMap((path) => Array.from(read(path).matchAll(exported), ([, name]) => ({ path, name: name! })))
      .filter(({ name }) => users.get(name) === 1)
      .map(({ path, name }) => `${path} exports ${name}`),
    'used in its own file alone: do not export it',
  );
});

test('No module of the package looks for a file beside itself, because the published code is bundled elsewhere.', () => {
  const published = files.filter((path) => /^(?:lib|bench)\/.*\.ts$/.test(path));
  none(
    published.filter((path) => /(?<!createRequire\()import\.meta\.(?:url|dirname)/.test(read(path))),
    'packageFolder() says where the package is',
  );
});

test('binding.gyp builds every source that its platform needs, and names no missing file.', () => {
  const gyp = read('binding.gyp');
  const named = new Set(gyp.match(/\b(?:objc|msl)\/[\w/.-]+\.(?:cc|mm)\b/g));
  none(
    list('objc').filter((path) => /\.(cc|mm)$/.test(path) && !named.has(path)),
    'a source that is not built',
  );
  none(
    [...named].filter((path) => !isThere(path)),
    'a source that is gone',
  );
  assert.ok(gyp.includes('-ffp-contract=off'), 'the kernels promise bits: nothing may fuse');
});

/** Rooms of test/ with their own subjects; every other one is a room of lib. */
const otherRooms = [
  'answers',
  'bench',
  'contract',
  'examples',
  'harness',
  'cuda',
  'metal',
  'msl',
  'native',
  'real-gpu',
  'repo',
];

test('test/ mirrors lib: the test of lib/normal/fit.ts is test/normal/fit.test.ts.', () => {
  const tests = list('test').filter((path) => path.endsWith('.test.ts') && !otherRooms.includes(path.split('/')[1]!));
  assert.ok(tests.length > 50, 'tests are found');
  none(
    tests.filter((path) => !isThere(path.replace(/^test\//, 'lib/').replace('.test.ts', '.ts'))),
    'a test without a file of lib',
  );
  // A part of something larger may have no own test, because the test of the whole runs it.
  const isTested = (path: string) => tests.includes(path.replace(/^lib\//, 'test/').replace(/\.ts$/, '.test.ts'));
  const run = new Set(lib.filter(isTested).flatMap((path) => [...reachedFrom(path, new Set(), namedModulesOf)]));
  none(
    lib.filter((path) => path !== 'lib/index.ts' && !run.has(path)),
    'neither it nor a file that imports it has a test',
  );
});

test.run();
