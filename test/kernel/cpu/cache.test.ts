// Libraries of kernels on disk: which are kept, which are loaded, and which are never loaded.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openDevice } from '../../../lib/index.ts';
import { runProgram } from '../../../lib/kernel/cpu/compiler.ts';
import { isAsked } from '../../harness/asked-device.ts';
import { moduleUrl, nodeOptions } from '../../harness/child.ts';
import { noCpu } from '../../harness/cpu-backend.ts';
import { throwsCode } from '../../harness/throws-code.ts';

const env: NodeJS.ProcessEnv & {
  CPATH?: string;
  COVARIUM_CACHE?: string;
  COVARIUM_CXX?: string;
  PATH?: string;
  TMPDIR?: string;
} = process.env;
const text = 'kernel void f(device float* out, uint i [[thread_position_in_grid]]) { out[i] = 7; }';

async function runOnce(value = '7'): Promise<void> {
  using device = openDevice('cpu', { threads: 1 });
  const out = new Float32Array(2);
  (await device.kernel(text.replace('7', value))).runSync({ grid: 2, arguments: [out] });
  assert.equal([...out], [Number(value), Number(value)]);
}

function libraries(cache: string): string[] {
  const folder = join(cache, 'kernels');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => join(folder, name));
}

/** Each test has its own cache. */
function onCache(sentence: string, check: (cache: string) => Promise<void>): void {
  if (noCpu !== '' || !isAsked('cpu')) {
    console.log(`skipped  cpu: ${noCpu || 'not asked for'}`);
    return;
  }
  test(sentence, async () => {
    const { COVARIUM_CACHE, COVARIUM_CXX, PATH } = env;
    const cache = mkdtempSync(join(tmpdir(), 'covarium-cache-test-'));
    env.COVARIUM_CACHE = cache;
    try {
      await check(cache);
    } finally {
      Object.assign(env, { PATH });
      for (const [name, value] of Object.entries({ COVARIUM_CACHE, COVARIUM_CXX }))
        if (value === undefined) delete env[name];
        else env[name] = value;
      rmSync(cache, { recursive: true, force: true });
    }
  });
}

onCache('a kernel is compiled once, and loaded from then on.', async (cache) => {
  await runOnce();
  const made = libraries(cache);
  assert.is(made.length, 1);
  assert.is(statSync(join(cache, 'kernels')).mode & 0o777, 0o700);
  const { mtimeMs } = statSync(made[0]!);
  await runOnce();
  assert.equal(libraries(cache), made);
  assert.is(statSync(made[0]!).mtimeMs, mtimeMs);
});

onCache(
  'a library that was shortened, altered, made writable by others or replaced is made again, not loaded.',
  async (cache) => {
    await runOnce();
    const [path] = libraries(cache) as [string];
    const whole = readFileSync(path);
    const elsewhere = join(cache, 'elsewhere.so');
    writeFileSync(elsewhere, whole, { mode: 0o700 });
    // Not in place: this process has it mapped.
    const gone = (file: string) => {
      rmSync(file);
      return file;
    };
    const replace = (bytes: Buffer) => writeFileSync(gone(path), bytes, { mode: 0o700 });
    const harms: [string, () => unknown][] = [
      ['shortened', () => replace(whole.subarray(0, 100))],
      ['empty', () => replace(Buffer.of())],
      ['altered', () => replace(Buffer.concat([whole, Buffer.of(0)]))],
      ['writable by others', () => chmodSync(path, 0o777)],
      // Only root can give a file away.
      ["another user's", () => process.getuid?.() === 0 && chownSync(path, 65534, 65534)],
      ['a link', () => symlinkSync(elsewhere, gone(path))],
      ['a folder', () => mkdirSync(gone(path))],
    ];
    for (const [name, harm] of harms) {
      harm();
      await runOnce();
      const now = libraries(cache).filter((each) => each !== elsewhere);
      assert.is(now.length, 1, name);
      assert.equal(readFileSync(now[0]!), whole, name);
      assert.is(statSync(now[0]!).mode & 0o022, 0, name);
      assert.is(statSync(now[0]!).uid, process.getuid?.(), name);
    }
  },
);

onCache(
  'the least recently used kernels are removed to make room, and so are drafts of dead processes.',
  async (cache) => {
    const folder = join(cache, 'kernels');
    await runOnce();
    const [library] = libraries(cache) as [string];
    const at = (seconds: number) => [new Date(seconds * 1000), new Date(seconds * 1000)] as const;
    const others = Array.from({ length: 1000 }, (_, i) => join(folder, i.toString(16).padStart(64, '0')));
    others.forEach((other, i) => {
      mkdirSync(other);
      utimesSync(other, ...at(2 + i));
    });
    const [foreign, old, young] = [join(folder, 'mine'), `${library}.old.draft`, `${library}.young.draft`] as const;
    for (const file of [old, young]) writeFileSync(file, '');
    mkdirSync(foreign);
    for (const file of [old, foreign]) utimesSync(file, ...at(1));
    await runOnce();
    assert.equal([old, young].map(existsSync), [false, true]);
    rmSync(young);
    utimesSync(dirname(library), ...at(1)); // the oldest, until it is used again
    await runOnce();
    assert.ok(
      others.every((other) => existsSync(other)),
      'nothing is removed while nothing is made',
    );
    await runOnce('8');
    assert.equal(
      others.filter((other) => !existsSync(other)),
      others.slice(0, 2),
    );
    assert.ok(existsSync(foreign));
    assert.is(libraries(cache).length, 2);
    await runOnce();
  },
);

onCache('a cache that others can access is not used, and kernels still run.', async (cache) => {
  mkdirSync(join(cache, 'kernels'));
  chmodSync(join(cache, 'kernels'), 0o755);
  await runOnce();
  assert.equal(libraries(cache), []);
});

onCache('kernels run without a cache if it cannot be written.', async (cache) => {
  writeFileSync(join(cache, 'kernels'), 'a file in the place of the folder');
  await runOnce();
});

onCache('processes that make the same kernel at the same time never see a partial file.', async (cache) => {
  const module = moduleUrl('lib/index.ts');
  const script = `const { openDevice } = await import(${JSON.stringify(module)});
const device = openDevice('cpu', { threads: 1 });
const out = new Float32Array(2);
(await device.kernel(${JSON.stringify(text)})).runSync({ grid: 2, arguments: [out] });
if (out[0] !== 7) process.exit(3);`;
  const children = Array.from({ length: 3 }, () => {
    const child = spawn(process.execPath, [...nodeOptions, '--input-type=module', '-e', script], {
      stdio: 'inherit',
    });
    return new Promise<number | null>((resolve) => child.on('close', resolve));
  });
  assert.equal(await Promise.all(children), [0, 0, 0]);
  assert.ok(
    libraries(cache).every((path) => path.endsWith('.so')),
    'no drafts are left',
  );
});

onCache('without a compiler, the error says what to install.', async () => {
  using device = openDevice('cpu', { threads: 1 });
  // The last is not a path: the system gives another error for it than for a missing file.
  for (const path of ['/nowhere/c++', join(fileURLToPath(import.meta.url), 'c++')]) {
    env.COVARIUM_CXX = path;
    const named = await throwsCode('ERR_NO_COMPILER', () => device.kernel(text));
    assert.match(named.message, path.slice(0, 20));
  }
  delete env.COVARIUM_CXX;
  env.PATH = '/nowhere';
  const none = await throwsCode('ERR_NO_COMPILER', () => device.kernel(text));
  assert.match(none.message, 'apt-get install clang');
});

onCache('a compiler gets its arguments without a shell, and a failure is reported.', async (cache) => {
  const fake = join(cache, 'a compiler; touch pwned');
  writeFileSync(
    fake,
    '#!/bin/sh\n[ "$1" = --version ] && echo "fake clang 1.0" && exit 0\necho "it is tired" >&2\nexit 1\n',
  );
  chmodSync(fake, 0o700);
  env.COVARIUM_CXX = fake;
  using device = openDevice('cpu', { threads: 1 });
  const error = await throwsCode('ERR_KERNEL_COMPILE', () => device.kernel(text));
  assert.match(error.message, 'it is tired');
  assert.not(existsSync('pwned'));
  assert.equal(
    libraries(cache).filter((path) => path.includes('kernels')),
    [],
  );
});

onCache('a program that is not a compiler, and writes nothing, is reported.', async (cache) => {
  const fake = join(cache, 'fake');
  writeFileSync(fake, '#!/bin/sh\nexit 0\n', { mode: 0o700 });
  env.COVARIUM_CXX = fake;
  using device = openDevice('cpu', { threads: 1 });
  const error = await throwsCode('ERR_KERNEL_COMPILE', () => device.kernel(text));
  assert.match(error.message, 'ended (0) without a library');
});

onCache('a file of the working folder is not compiled into a kernel.', async (cache) => {
  const hostile = join(cache, 'hostile');
  mkdirSync(join(hostile, 'library'), { recursive: true });
  for (const name of ['library/wrapper.h', 'library/words.h', 'metal_stdlib', 'kernel-abi.h', 'cstdint', 'array'])
    writeFileSync(join(hostile, name), '#error the working folder is read');
  const { CPATH } = env;
  const folder = process.cwd();
  process.chdir(hostile);
  Object.assign(env, { CPATH: '' }); // an empty element is the compiler's working folder
  try {
    await runOnce();
    using device = openDevice('cpu', { threads: 1 });
    await device.kernel(text, { check: true });
  } finally {
    process.chdir(folder);
    if (CPATH === undefined) Reflect.deleteProperty(env, 'CPATH');
    else Object.assign(env, { CPATH });
  }
});

onCache('paths of the compiler and the cache may be relative to the working folder.', async (cache) => {
  const folder = process.cwd();
  process.chdir(cache);
  symlinkSync(compilerPath(), 'compiler');
  env.COVARIUM_CXX = './compiler';
  env.COVARIUM_CACHE = 'here';
  try {
    await runOnce();
    assert.is(libraries(join(cache, 'here')).length, 1);
  } finally {
    process.chdir(folder);
  }
});

/** The first compiler of PATH. */
function compilerPath(): string {
  const folders = (env.PATH ?? '').split(':');
  return ['clang++', 'g++', 'c++'].flatMap((name) => folders.map((each) => join(each, name))).find(existsSync)!;
}

onCache('a compiler that does not end is stopped, with the processes that it has started.', async (cache) => {
  // The second sleep keeps the output open, as processes do that a compiler driver starts.
  const pid = join(cache, 'pid');
  const script = `sleep 600 & echo $! > '${pid}'; sleep 600`;
  const ended = await runProgram('/bin/sh', ['-c', script], '', 1000);
  assert.is(ended?.timedOut, true);
  const left = Number(readFileSync(pid, 'utf8'));
  for (let i = 0; i < 100 && isAlive(left); i++) await setTimeout(20);
  assert.not(isAlive(left), 'the process that it started is gone');
});

/** A process that has ended may be a zombie until its parent waits for it. */
function isAlive(pid: number): boolean {
  const bare = { ...process.env };
  Reflect.deleteProperty(bare, 'LD_PRELOAD'); // ps hangs under a sanitizer's runtime
  const ended = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8', env: bare });
  return !/^(?:Z.*)?$/.test(ended.stdout.trim());
}

onCache('if neither the cache nor the temporary folder can be written, the error names the folder.', async (cache) => {
  writeFileSync(join(cache, 'kernels'), 'a file in the place of the folder');
  const { TMPDIR } = env;
  env.TMPDIR = join(cache, 'nowhere');
  try {
    using device = openDevice('cpu', { threads: 1 });
    const error = await throwsCode('ERR_FILE_UNWRITABLE', () => device.kernel(text));
    assert.is(error.path, env.TMPDIR);
  } finally {
    if (TMPDIR === undefined) delete env.TMPDIR;
    else env.TMPDIR = TMPDIR;
  }
});

onCache('if the cache is mounted with noexec, the error says so.', async (cache) => {
  const script = `
    import { openDevice } from '${moduleUrl('lib/index.ts')}';
    await openDevice('cpu', { threads: 1 }).kernel(${JSON.stringify(text)}).catch(({ code, message }) => console.log(code, message));`;
  const node = [process.execPath, ...nodeOptions, '--input-type=module', '--eval', script];
  const inside = ['sh', '-c', `mount -t tmpfs -o noexec,mode=700 none '${cache}' && "$@"`, 'sh', ...node];
  const { stdout, stderr = '', error } = spawnSync('unshare', ['--mount', ...inside], { encoding: 'utf8' });
  if (error !== undefined || /^(?:unshare|mount):/.test(stderr))
    return console.log(`skipped  noexec: it can't be mounted (${error?.message ?? stderr.trim()})`);
  assert.match(stdout, /^ERR_UNSUPPORTED Kernel \(f\) can't be loaded.* \(noexec\).* COVARIUM_CACHE\.\n$/, stderr);
});

onCache(
  'a compiler that cannot be started because no file can be opened is an error, and the process goes on.',
  async () => {
    const script = `
    import { openSync } from 'node:fs';
    import { openDevice } from '${moduleUrl('lib/index.ts')}';
    const device = openDevice('cpu', { threads: 1 });
    await device.kernel(${JSON.stringify(text)});
    try {
      for (;;) openSync('/dev/null');
    } catch {}
    const other = ${JSON.stringify(text.replace('7', '8'))};
    await device.kernel(other).catch(({ code, message }) => console.log(code, message));`;
    const node = [process.execPath, ...nodeOptions, '--input-type=module', '--eval', script];
    const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -n 1000; exec "$@"', 'sh', ...node], {
      encoding: 'utf8',
    });
    assert.match(stdout, /^ERR_OUT_OF_MEMORY .* \(EMFILE\)\.\n$/, stderr);
  },
);

test.run();
