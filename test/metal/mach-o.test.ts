// The addon of a Mac with Apple silicon, compiled and linked on Linux as binding.gyp says: Mach-O objects of all its
// sources, without a warning, and a link that finds what no source and no library of a Mac defines. node-gyp links with
// -undefined dynamic_lookup, so a Mac would report that only when the addon is loaded. The headers are stand-ins;
// test/metal/apple-api/real-headers.mjs does the same with Apple's own, by hand.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { embed } from '../../msl/embed.mjs';
import { flags, makefiles, sources, whyNoMakefile } from './apple-api/mac-makefile.ts';
import { availability, Compiler, link, reason } from './apple-api/mach-o.ts';
import { writeStubs } from './apple-api/stub-headers.ts';
import { writeSystemHeaders } from './apple-api/system-headers.ts';

const why = reason() ?? whyNoMakefile();
if (why !== undefined) {
  console.log(`skipped  the addon of a Mac is not linked here: ${why}`);
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), 'covarium-mach-o-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const [headers, made] = [join(folder, 'headers'), join(folder, 'made')];
mkdirSync(made);
writeStubs(headers);
writeSystemHeaders(headers);
embed(join(made, 'shader-source.h'));

const objectOf = (source: string) => join(folder, `${source.replaceAll('/', '-')}.o`);
const { addon, kernels } = makefiles('arm64');

test('Every source compiles for a Mac, without a warning.', () => {
  const complaints = [addon, kernels].flatMap((makefile) => {
    const all = ['DEFS', 'CFLAGS', 'CFLAGS_CC'].flatMap((name) => flags(makefile, name));
    const compiler = new Compiler(all, { headers, made });
    return sources(makefile).map((source) => compiler.compile(source, objectOf(source)));
  });
  assert.is(complaints.join(''), '');
});

const objects = [...sources(addon), ...sources(kernels)].map(objectOf);
const frameworks = [...addon.matchAll(/-framework (\w+)/g)].map(([, name]) => name!);

test('The addon of a Mac is linked, and every symbol that it lacks is of Node, of a named framework or of the system.', () => {
  const { undefined: free, complaints } = link(objects);
  assert.equal(complaints, []);
  assert.ok(free.includes('_MTLCreateSystemDefaultDevice') && free.includes('_napi_get_value_double'), free.join(' '));
  const isThere = availability(frameworks);
  assert.equal(
    free.filter((name) => !isThere(name)),
    [],
  );
  // Without a framework that binding.gyp names, something is missing.
  for (const each of ['Accelerate', 'Foundation', 'Metal', 'MetalPerformanceShaders']) {
    const without = availability(frameworks.filter((name) => name !== each));
    assert.ok(!free.every(without), each);
  }
});

test('A source that is left out is found, and a symbol that two sources define.', () => {
  const left = link(objects.filter((path) => path !== objectOf('objc/metal/mps.mm')));
  const isThere = availability(frameworks);
  const missing = left.undefined.filter((name) => !isThere(name));
  assert.ok(missing.length > 0 && missing.every((name) => name.includes('8covarium')), missing.join(' '));

  const twice = join(folder, 'twice.o');
  copyFileSync(objectOf('objc/metal/mps.mm'), twice);
  assert.match(link([...objects, twice]).complaints.join('\n'), /duplicate symbol: .*covarium/);
});

test.run();
