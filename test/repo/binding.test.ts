// What node-gyp would do with binding.gyp on a Mac: the sources, and the compiler's flags. Node's common.gypi is merged
// after binding.gyp, and once overrode it: no exceptions, no RTTI, an older macOS.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { list } from '../harness/source-text.ts';
import { flags, makefiles, sources, whyNoMakefile } from '../metal/apple-api/mac-makefile.ts';

const why = whyNoMakefile();

for (const arch of ['arm64', 'x64'] as const) {
  const sentence = `On a Mac (${arch}) every source is built, with exceptions and RTTI, for macOS 13.3, with Apple's frameworks.`;
  if (why !== undefined) {
    console.log(`skipped  ${sentence} ${why}`);
    test.skip(sentence);
    continue;
  }
  test(sentence, () => {
    const { addon: text, kernels } = makefiles(arch);
    const [all, cc, objcc] = [flags(text, 'CFLAGS'), flags(text, 'CFLAGS_CC'), flags(text, 'CFLAGS_OBJCC')];
    for (const wrong of ['-fno-exceptions', '-fno-rtti'])
      assert.ok(![...all, ...cc, ...objcc].includes(wrong), `${wrong} is not among the flags`);
    assert.ok(all.includes('-mmacosx-version-min=13.3'), all.join(' '));
    assert.ok(cc.includes('-std=gnu++17'), cc.join(' '));
    assert.ok(!all.includes('-fobjc-arc') && !objcc.includes('-fobjc-arc'), 'ownership is written out');
    const built = [...sources(text), ...sources(kernels)].sort();
    const ofOthers = /^objc\/(?:cuda\/(?!none)|cpu\/blas-dlopen|metal\/none)/;
    const expected = list('objc').filter((path) => /\.(?:cc|mm)$/.test(path) && !ofOthers.test(path));
    assert.equal(built, expected.sort());
    assert.ok(flags(kernels, 'CFLAGS_CC').includes('-ffp-contract=off'), 'the kernels promise bits: nothing may fuse');
    for (const framework of ['Accelerate', 'CoreGraphics', 'Foundation', 'Metal', 'MetalPerformanceShaders'])
      assert.match(text, `-framework ${framework}`);
    assert.match(text, 'msl/embed.mjs', 'the shaders are embedded');
    // Under Rosetta there is no AVX2 before macOS 15.
    assert.match(text, 'kernels_baseline.a');
    for (const ofIntel of ['kernels_avx2.a', 'kernels_avx512.a'])
      assert.is(text.includes(ofIntel), arch === 'x64', ofIntel);
  });
}

test.run();
