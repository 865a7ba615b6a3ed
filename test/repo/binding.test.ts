// What node-gyp would do with binding.gyp on a Mac: runs its own generator, told that this is a Mac, and reads the
// compiler's flags from the makefile. Node's common.gypi is merged after binding.gyp, and once overrode it: no
// exceptions, no RTTI, an older macOS.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stageSources } from '../../lib/addon/stage.ts';
import { list } from '../harness/source-text.ts';

const nodeGyp = fileURLToPath(new URL('../../node_modules/node-gyp', import.meta.url));
const { npm_config_nodedir: nodeFolder = dirname(dirname(process.execPath)) } = process.env;
const common = join(nodeFolder, 'include/node/common.gypi');

// These imports come first, because they would look for a Mac's own modules.
const generator = `
import multiprocessing, os, plistlib, subprocess, sys, urllib.request, xml.sax.saxutils
sys.platform = 'darwin'
sys.path.insert(0, sys.argv.pop(1))
import gyp
sys.exit(gyp.main(sys.argv[1:]))
`;

// The programs that gyp runs on a Mac.
const tools: { readonly [name: string]: string } = {
  sw_vers: 'echo 24C101',
  'xcode-select': 'echo /Applications/Xcode.app/Contents/Developer',
  xcodebuild: 'echo "Xcode 16.2"; echo "Build version 16C5032a"',
  xcrun: 'case "$*" in *show-sdk-version*) echo 15.2;; *) echo /SDKs/MacOSX15.2.sdk;; esac',
};

const variables = (arch: string) => ({
  variables: {
    asan: 0,
    build_type: 'Release',
    clang: 1,
    control_flow_guard: 'false',
    enable_lto: 'false',
    error_on_warn: 'false',
    host_arch: arch,
    is_debug: 0,
    llvm_version: '0.0',
    napi_build_version: '9',
    node_module_version: 115,
    node_shared: 'false',
    node_use_openssl: 'true',
    node_with_ltcg: 'false',
    nodedir: nodeFolder,
    openssl_fips: '',
    standalone_static_library: 1,
    target_arch: arch,
    v8_enable_i18n_support: 1,
    v8_enable_pointer_compression: 0,
    v8_enable_sandbox: 0,
  },
});

/** The makefile of the addon, as a Mac of this architecture would have it. */
function makefile(arch: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'covarium-gyp-'));
  const stage = stageSources();
  try {
    for (const [name, body] of Object.entries(tools)) {
      writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
      chmodSync(join(folder, name), 0o755);
    }
    writeFileSync(join(folder, 'config.gypi'), JSON.stringify(variables(arch)));
    const includes = [join(folder, 'config.gypi'), join(nodeGyp, 'addon.gypi'), common].flatMap((path) => ['-I', path]);
    const defines = {
      library: 'shared_library',
      visibility: 'default',
      node_root_dir: nodeFolder,
      node_gyp_dir: nodeGyp,
      node_lib_file: 'node.lib',
      module_root_dir: stage,
      node_engine: 'v8',
      OS: 'mac',
    };
    const args = ['-f', 'make', ...includes, ...Object.entries(defines).map(([name, value]) => `-D${name}=${value}`)];
    args.push('--depth=.', '--no-parallel', '--generator-output', folder, '-Goutput_dir=.', 'binding.gyp');
    const { PATH = '' } = process.env;
    const env = { ...process.env, PATH: `${folder}:${PATH}` };
    const { status, stdout, stderr } = spawnSync('python3', ['-c', generator, join(nodeGyp, 'gyp/pylib'), ...args], {
      cwd: stage,
      env,
      encoding: 'utf8',
    });
    assert.is(status, 0, `${stdout}${stderr}`);
    return readFileSync(join(folder, 'covarium.target.mk'), 'utf8');
  } finally {
    for (const each of [folder, stage]) rmSync(each, { recursive: true, force: true });
  }
}

/** The flags of a list in the makefile, for release builds. */
function flags(text: string, name: string): string[] {
  const found = new RegExp(`^${name}_Release :=((?:.*\\\\\\n)*.*)`, 'm').exec(text);
  assert.ok(found, `the makefile has ${name}_Release`);
  return found[1]!.split(/\s+/).filter((word) => word !== '' && word !== '\\');
}

const missing = !existsSync(common)
  ? `Node's common.gypi is not in (${nodeFolder}).`
  : spawnSync('python3', ['--version']).status !== 0
    ? 'python3 is not there.'
    : '';

for (const arch of ['arm64', 'x64']) {
  const sentence = `On a Mac (${arch}) every source is built, with exceptions and RTTI, for macOS 13.3, with Apple's frameworks.`;
  if (missing !== '') {
    console.log(`skipped  ${sentence} ${missing}`);
    test.skip(sentence);
    continue;
  }
  test(sentence, () => {
    const text = makefile(arch);
    const [all, cc, objcc] = [flags(text, 'CFLAGS'), flags(text, 'CFLAGS_CC'), flags(text, 'CFLAGS_OBJCC')];
    for (const wrong of ['-fno-exceptions', '-fno-rtti'])
      assert.ok(![...all, ...cc, ...objcc].includes(wrong), `${wrong} is not among the flags`);
    assert.ok(all.includes('-mmacosx-version-min=13.3'), all.join(' '));
    assert.ok(cc.includes('-std=gnu++17'), cc.join(' '));
    assert.ok(!all.includes('-fobjc-arc') && !objcc.includes('-fobjc-arc'), 'ownership is written out');
    for (const path of list('objc').filter((name) => /objc\/(?:addon|gpu|metal)\/.*\.(?:cc|mm)$/.test(name))) {
      const isBuilt = text.includes(path.replace(/\.(?:cc|mm)$/, '.o'));
      assert.is(isBuilt, path !== 'objc/metal/none.cc', path);
    }
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
