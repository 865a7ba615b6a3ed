// How the house is kept: sizes and names of files, what is built, what is tested.
import { basename, dirname } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { files, isThere, lib, list, none, read } from '../harness/source-text.ts';

test('Files are pages, not books.', () => {
  const text = files.filter((path) => /\.(ts|mjs|cc|mm|h|metal)$/.test(path) || basename(path) === 'metal_stdlib');
  const lines = (path: string) => read(path).split('\n').length - 1;
  const long = text.filter((path) => lines(path) > 200).map((path) => `${path} (${lines(path)})`);
  if (long.length > 0) console.log(`over 200 lines: ${long.join(', ')}`);
  // Lists of thin methods and their docstrings, each with its synchronous twin: one concept, however much it can be asked.
  const faces = ['lib/normal/multivariate-normal.ts', 'lib/student-t/multivariate-student-t.ts'];
  none(
    text.filter((path) => lines(path) > (path.startsWith('test/') ? 450 : faces.includes(path) ? 450 : 300)),
    'a file over 300 lines (a test: 450, since one file tests one stem) holds more than one concept',
  );
});

test('There are no drawers.', () => {
  const drawer = /^(utils?|helpers?|commons?|misc|core|types?|shared|stuff)$/;
  none(
    files.filter((path) => path.split('/').some((part) => drawer.test(part.split('.')[0]!))),
    'a thing without a home lacks a name',
  );
  none(
    lib.filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(basename(path))),
    'files are kebab-case',
  );
});

test('No module of the package looks for a file beside itself: published, it is part of a larger file elsewhere.', () => {
  const published = files.filter((path) => /^(?:lib|bench)\/.*\.ts$/.test(path));
  none(
    published.filter((path) => /(?<!createRequire\()import\.meta\.(?:url|dirname)/.test(read(path))),
    'packageFolder() says where the package is',
  );
});

test('objc/covarium.gyp builds every source that its platform needs, and names none that is gone.', () => {
  const gyp = read('objc/covarium.gyp');
  const named = new Set(gyp.match(/\b(?:objc|msl)\/[\w/.-]+\.(?:cc|mm)\b/g));
  none(
    list('objc').filter((path) => /\.(cc|mm)$/.test(path) && !named.has(path)),
    'a source that nobody builds',
  );
  none(
    [...named].filter((path) => !isThere(path)),
    'a source that is gone',
  );
  assert.ok(gyp.includes('-ffp-contract=off'), 'the kernels promise bits: nothing may fuse');
});

test('Every file of lib has a test that names its stem, or one that is known to run it.', () => {
  // Parts of something larger: the test of the whole runs them, by what they make of it.
  const throughTheWhole: { readonly [path: string]: string } = {
    'lib/addon/file.ts': 'addon-report',
    'lib/backend.ts': 'encoder', // types alone; every backend keeps them
    'lib/check.ts': 'errors',
    'lib/command/options.ts': 'command-buffer', // types alone
    'lib/decomposition/': 'decompositions',
    'lib/array/inputs.ts': 'multivariate-normal',
    'lib/distribution/tasks.ts': 'multivariate-normal', // types alone
    'lib/distribution/distribution.ts': 'multivariate-normal',
    'lib/command/float64.ts': 'multivariate-normal',
    'lib/factor/': 'multivariate-normal',
    'lib/array/host-memory.ts': 'matrix',
    'lib/index.ts': 'architecture', // a list
    'lib/kernel/cpu/address-spaces.ts': 'kernel-check',
    'lib/kernel/cpu/translation-unit.ts': 'kernel-threads',
    'lib/kernel/given-layouts.ts': 'volume',
    'lib/normal/options.ts': 'multivariate-normal', // types alone
    'lib/normal/parameters.ts': 'multivariate-normal',
    'lib/normal/tasks.ts': 'multivariate-normal',
    'lib/normal/': 'questions',
    'lib/command/task.ts': 'multivariate-normal',
    'lib/stream/counter.ts': 'multivariate-normal',
    'lib/command/recording.ts': 'command-buffer',
    'lib/distribution/blocks.ts': 'multivariate-normal',
    'lib/distribution/sample-options.ts': 'multivariate-normal',
    'lib/normal/covariance.ts': 'multivariate-normal',
    'lib/command/scratch.ts': 'multivariate-normal',
    'lib/array/storage.ts': 'leak',
    'lib/ways-in/': 'ways-in',
    'lib/probability/': 'box-probability',
    'lib/fit/': 'moments', // what moments are made of
    'lib/student/': 'multivariate-student-t',
    'lib/native-build/': 'build-native', // what the command is made of
    'lib/file/': 'table', // what tables are read from and written to
    'lib/table/': 'table', // every format is written and read
    'lib/table/arrow/': 'hostile', // what files state is held against what is there
    'lib/table/parquet/': 'hostile',
    'lib/table/compression/': 'compression',
    'lib/run/': 'sample-parts',
    'lib/cli/': 'cli', // the command is run as users run it
    'lib/reference/': 'encoder', // every verb on the reference device
  };
  const tests = list('test').filter((path) => path.endsWith('.test.ts'));
  const stems = new Set(tests.map((path) => basename(path).replace('.test.ts', '')));
  const text = tests
    .filter((path) => !path.includes('architecture'))
    .map(read)
    .join('\n');
  // A stem, or the name that it becomes in code: sample-blocks, sampleBlocks, SampleBlocks.
  const isNamed = (stem: string) => {
    const camel = stem.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    return stems.has(stem) || new RegExp(`\\b(${stem}|${camel})\\b`, 'i').test(text);
  };
  const known = (path: string) => throughTheWhole[path] ?? throughTheWhole[`${dirname(path)}/`];
  none(
    lib.filter((path) => !isNamed(basename(path, '.ts')) && !stems.has(known(path) ?? '')),
    'no test names it',
  );
  none(
    Object.keys(throughTheWhole).filter((path) => !lib.some((each) => each.startsWith(path))),
    'a reason without a file',
  );
});

test.run();
