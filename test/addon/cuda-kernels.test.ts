// The file of the cuda device's kernels, in an installed package: when it is read, and what is said of one that does
// not serve.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants, crc32 } from 'node:zlib';
import { buildSync } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { standInFile } from '../cuda/on-cuda.ts';
import { builtAddon, installPackage, plainEnvironment } from '../harness/installed-package.ts';

const { folder } = installPackage();
const kernels = join(folder, 'dist', 'cuda-kernels.bin');
const sound = existsSync(kernels) ? readFileSync(kernels) : Buffer.alloc(0);
const text = sound.length === 0 ? '' : brotliDecompressSync(sound.subarray(4)).toString();
if (existsSync(builtAddon)) {
  mkdirSync(join(folder, 'build', 'Release'), { recursive: true });
  copyFileSync(builtAddon, join(folder, 'build', 'Release', 'covarium.node'));
}

function onInstalled(sentence: string, check: () => void): void {
  const missing = [builtAddon, kernels, standInFile].find((path) => !existsSync(path));
  if (missing === undefined) {
    test(sentence, check);
    return;
  }
  console.log(`skipped  ${sentence} There is no ${missing || "stand-in for NVIDIA's driver"}.`);
  test.skip(sentence);
}

/** What a module prints whose library is `covarium`: the package, if it is not a bundle. */
function printed(program: string, hasGpu: boolean, bundle = '', addon = ''): string {
  const text = `import * as covarium from '${bundle || 'covarium'}';\n${program}`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', text], {
    cwd: bundle === '' ? folder : dirname(bundle),
    encoding: 'utf8',
    env: {
      ...plainEnvironment(),
      ...(addon !== '' && { COVARIUM_ADDON: addon }),
      LD_LIBRARY_PATH: hasGpu ? dirname(standInFile) : '',
      ...{ COVARIUM_NVRTC: 'none', COVARIUM_CUBLAS: 'none', COVARIUM_CUSOLVER: 'none' },
      COVARIUM_CACHE: join(folder, 'cache'),
    },
  });
  assert.equal([status, stderr], [0, ''], stdout);
  return stdout;
}

/** With each file in place of the kernels, or none: why `cuda` is not available. The other devices are not affected. */
function refusals(hasGpu: boolean, ...files: (Uint8Array | undefined)[]): string[] {
  const paths = files.map((bytes, index) => {
    const path = join(folder, `kernels-${index}`);
    if (bytes !== undefined) writeFileSync(path, bytes);
    return bytes && path;
  });
  const out = printed(
    `
    import { copyFileSync, rmSync } from 'node:fs';
    const [all, used] = [[], ${JSON.stringify(kernels)}];
    const said = ({ code, message }) => code + ': ' + message;
    const bySync = () => { try { return covarium.openDevice('cuda').kind; } catch (error) { return said(error); } };
    for (const path of ${JSON.stringify(paths)}) {
      if (path === null) rmSync(used);
      else copyFileSync(path, used);
      all.push([
        await covarium.openDeviceAsync('cuda').catch(said),
        bySync(),
        covarium.listDevices().find(({ kind }) => kind === 'cuda').reason,
        covarium.openDevice().kind,
        (await covarium.openDeviceAsync()).kind,
      ]);
    }
    console.log(JSON.stringify(all));`,
    hasGpu,
  );
  return (JSON.parse(out) as string[][]).map(([byPromise, bySync, byList, ...opened]) => {
    const refusal = `ERR_DEVICE_UNAVAILABLE: Device (cuda) is not available: ${byList}`;
    assert.equal([byPromise, bySync, ...opened], [refusal, refusal, 'cpu', 'cpu']);
    return byList!;
  });
}

const withChecksum = (bytes: Uint8Array): Buffer => {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32(bytes));
  return Buffer.concat([checksum, bytes]);
};

test.after.each(() => {
  if (sound.length > 0) writeFileSync(kernels, sound);
});

onInstalled('The file is read once there is a GPU, by each way to open the device.', () => {
  const open = `console.log(covarium.openDevice().kind, (await covarium.openDeviceAsync()).kind,
    covarium.listDevices().find(({ kind }) => kind === 'cuda').available);`;
  assert.is(printed(open, true).trim(), 'cuda cuda true');
  assert.match(refusals(false, undefined)[0]!, "NVIDIA's driver");
  writeFileSync(kernels, sound);
  assert.match(
    refusals(true, undefined)[0]!,
    /^Its kernels cannot be read \(ENOENT: .*cuda-kernels\.bin'\)\. Install covarium again, or/,
  );
});

onInstalled('A bundle without the package finds a copy beside that of the addon.', () => {
  const apart = mkdtempSync(join(tmpdir(), 'covarium-bundle-'));
  try {
    const [bundle, addon] = [join(apart, 'bundle.mjs'), join(apart, 'covarium.node')];
    buildSync({
      entryPoints: [join(folder, 'dist/lib/index.js')],
      ...({ bundle: true, platform: 'node', format: 'esm', outfile: bundle, logLevel: 'error' } as const),
    });
    copyFileSync(builtAddon, addon);
    const open = "try { console.log(covarium.openDevice('cuda').kind); } catch ({ message }) { console.log(message); }";
    assert.match(printed(open, true, bundle, addon), `open '${join(apart, 'cuda-kernels.bin')}'). Install covarium`);
    copyFileSync(kernels, join(apart, 'cuda-kernels.bin'));
    assert.is(printed(open, true, bundle, addon), 'cuda\n');
  } finally {
    rmSync(apart, { recursive: true });
  }
});

onInstalled('An empty, damaged or foreign file is refused.', () => {
  const [flipped, late] = [Buffer.from(sound), Buffer.from(sound)];
  flipped[2]! ^= 1;
  late[late.length - 9]! ^= 16;
  const files = [Buffer.alloc(0), sound.subarray(0, 4), sound.subarray(0, -1), flipped, late, sound.subarray(4)];
  const advice = 'Install covarium again, or, in a clone, install clang and run `npm run build`.';
  for (const reason of refusals(true, ...files)) assert.is(reason, `Its kernels (${kernels}) are damaged. ${advice}`);
});

onInstalled('Kernels of other sources than the addon are refused.', () => {
  const line = text.slice(0, text.indexOf('\n') + 1);
  assert.match(line, /^\/\/[0-9a-f]{16}\n$/);
  const others = ['', '//', '//0123456789abcdef\n', line.slice(0, -1)].map((other) => text.replace(line, other));
  const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  const files = others.map((other) => withChecksum(brotliCompressSync(other, quickly)));
  for (const reason of refusals(true, ...files))
    assert.match(reason, /^Its kernels were made from other sources than this addon\. .*`covarium build-native`/);
});

test.run();
