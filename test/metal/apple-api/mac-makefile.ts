// The makefile that node-gyp would make from binding.gyp on a Mac: node-gyp's own generator is told that this is a Mac.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { stageSources } from '../../../lib/addon/stage.ts';

const top = fileURLToPath(new URL('../../..', import.meta.url));
const nodeGyp = join(top, 'node_modules/node-gyp');
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

/** Why there can be no makefile here; undefined if there can. */
export function whyNoMakefile(): string | undefined {
  if (!existsSync(common)) return `Node's common.gypi is not in (${nodeFolder}).`;
  return spawnSync('python3', ['--version']).status === 0 ? undefined : 'python3 is not there.';
}

/** The makefiles of the addon and of its kernels' library, as a Mac of this architecture would have them. */
export function makefiles(arch: 'arm64' | 'x64'): { readonly addon: string; readonly kernels: string } {
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
    const made = (name: string) => readFileSync(join(folder, `${name}.target.mk`), 'utf8');
    return { addon: made('covarium'), kernels: made('kernels_baseline') };
  } finally {
    for (const each of [folder, stage]) rmSync(each, { recursive: true, force: true });
  }
}

/** The words of a list in a makefile. */
function words(text: string, name: string): string[] {
  const found = new RegExp(`^${name} :=((?:.*\\\\\\n)*.*)`, 'm').exec(text);
  assert.ok(found, `the makefile has ${name}`);
  return found[1]!.split(/\s+/).filter((word) => word !== '' && word !== '\\');
}

/** The flags of a list in a makefile, for release builds, as the compiler gets them from the shell. */
export const flags = (text: string, name: string): string[] =>
  words(text, `${name}_Release`).map((word) => word.replaceAll("'", ''));

/** The sources of a makefile. */
export const sources = (text: string): string[] =>
  words(text, 'OBJS').map((object) => {
    const stem = object.replace('$(obj).target/$(TARGET)/', '').replace(/\.o$/, '');
    return existsSync(join(top, `${stem}.mm`)) ? `${stem}.mm` : `${stem}.cc`;
  });
