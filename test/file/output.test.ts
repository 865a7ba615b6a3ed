// Files appear whole or not at all, even if others write them too.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
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
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { finishText, OutputFile, openOutputFile } from '../../lib/file/output.ts';
import { partialPath } from '../../lib/file/temporary-name.ts';
import { Matrix, readTable, writeTable } from '../../lib/index.ts';
import { requireManifestPlace } from '../../lib/run/manifest.ts';
import { moduleUrl, nodeOptions, runNode } from '../harness/child.ts';
import { throwsCode } from '../harness/throws-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'covarium-output-'));
const at = (...names: string[]) => join(folder, ...names);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

function fresh(name: string): string {
  mkdirSync(at(name));
  return at(name);
}

/** The files in a folder, except the named ones. */
function others(where: string, ...names: string[]): string[] {
  return readdirSync(where).filter((name) => !names.includes(name));
}

test('If two tables are written to one path at once, one of them is there, whole, and both calls succeed.', async () => {
  const where = fresh('pairs');
  const path = join(where, 'table.npy');
  const values = (fill: number) => Matrix.from(new Float64Array(300_000).fill(fill), { columns: 1 });
  const [ones, twos] = [values(1), values(2)];
  for (let pair = 0; pair < 50; pair++) {
    await Promise.all([ones, twos].map((rows) => writeTable(path, rows)));
    const { rows } = await readTable(path);
    assert.is(rows.rows, 300_000);
    assert.ok(rows.data.every((value) => value === rows.data[0]));
  }
  assert.equal(others(where, 'table.npy'), []);
});

test('A link at a predictable temporary name is not followed.', async () => {
  const where = fresh('links');
  const precious = join(where, 'precious');
  writeFileSync(precious, 'mine');
  const host = hostname().replaceAll(/[^\w-]/g, '-') || 'localhost';
  symlinkSync(precious, join(where, `.table.npy.${host}.${process.pid}.partial`));
  await writeTable(join(where, 'table.npy'), [[1]]);
  assert.is(readFileSync(precious, 'utf8'), 'mine');
  assert.not.match(partialPath('x'), partialPath('x'));
});

test('A file written to a link is written where the link points, whether or not a file is there, and the link stays.', async () => {
  const where = fresh('pointing');
  mkdirSync(join(where, 'disk'));
  symlinkSync('disk', join(where, 'mounted'));
  symlinkSync('mounted/far.csv', join(where, 'near.csv'));
  symlinkSync('near.csv', join(where, 'nearer.csv'));
  for (const value of [1, 2]) {
    await writeTable(join(where, 'nearer.csv'), [[value]]);
    assert.is(readFileSync(join(where, 'disk', 'far.csv'), 'utf8'), `${value}\n`);
  }
  assert.equal(readdirSync(join(where, 'disk')), ['far.csv']);
  for (const link of ['near.csv', 'nearer.csv']) assert.ok(lstatSync(join(where, link)).isSymbolicLink());
  symlinkSync('no/where.csv', join(where, 'lost.csv'));
  await throwsCode('ERR_FILE_UNWRITABLE', 'lost.csv', () => writeTable(join(where, 'lost.csv'), [[1]]));
  assert.ok(lstatSync(join(where, 'lost.csv')).isSymbolicLink());
  symlinkSync('round.csv', join(where, 'circle.csv'));
  symlinkSync('circle.csv', join(where, 'round.csv'));
  await throwsCode('ERR_FILE_UNWRITABLE', 'circle', () => writeTable(join(where, 'round.csv'), [[1]]));
  for (const link of ['circle.csv', 'round.csv']) assert.ok(lstatSync(join(where, link)).isSymbolicLink());
});

test('A file that is written again keeps its mode, and its temporary file has this mode from the beginning.', async () => {
  const where = fresh('modes');
  for (const mode of [0o600, 0o640, 0o666]) {
    const path = join(where, `${mode}.csv`);
    writeFileSync(path, '1\n');
    chmodSync(path, mode);
    const output = await openOutputFile(path);
    const [temporary] = readdirSync(where).filter((name) => name.startsWith('.'));
    assert.is(statSync(join(where, temporary!)).mode & 0o777, mode);
    await output.write(Buffer.from('2\n'));
    await output.finish();
    assert.is(statSync(path).mode & 0o777, mode);
  }
});

test('A process that exits in the middle of a write leaves nothing behind.', async () => {
  const where = fresh('exits');
  const body = (how: string) => `
    import { openOutputFile } from '${moduleUrl('lib/file/output.ts')}';
    const output = await openOutputFile('${join(where, 'half.csv')}');
    await output.write(Buffer.from('1,2'));
    ${how}`;
  for (const how of ['process.exit(3)', 'setTimeout(() => { throw new Error("no") })', ''])
    await runNode([...nodeOptions, '--input-type=module', '--eval', body(how)]);
  assert.equal(readdirSync(where), []);
});

test("A file is written even if Node's permission model does not allow fsync, or Yarn's file handles lack it.", async () => {
  const where = fresh('unflushed');
  const denied = "throw Object.assign(new Error('fsync API is disabled'), { code: 'ERR_ACCESS_DENIED' })";
  const yarn = `
    const handle = await fs.promises.open('.');
    Object.getPrototypeOf(handle).sync = () => { throw new Error('Method not implemented.') };
    await handle.close();`;
  for (const [name, hindrance] of Object.entries({ denied: `fs.fsync = () => { ${denied} };`, yarn })) {
    const body = `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      ${hindrance}
      syncBuiltinESMExports();
      const { writeTextFile } = await import('${moduleUrl('lib/file/output.ts')}');
      await writeTextFile('${join(where, name)}', 'whole');`;
    const { stderr } = await runNode([...nodeOptions, '--input-type=module', '--eval', body]);
    assert.is(existsSync(join(where, name)) && readFileSync(join(where, name), 'utf8'), 'whole', stderr);
  }
});

test('The next writer of the same file removes leftovers of dead processes at once, and those of live ones and of other systems after an hour.', async () => {
  const where = fresh('leftovers');
  const [, system] = /\.([0-9a-f]{12})\.\d+\.[0-9a-f]{8}\.partial$/.exec(partialPath('x'))!;
  const named = (target: string, system: string, pid: number) => `.${target}.${system}.${pid}.01234567.partial`;
  const elsewhere = '0123456789ab';
  const gone = [named('left.npy', system!, 999_999_999), named('left.npy', elsewhere, 2)];
  const kept = [
    named('left.npy', system!, process.ppid),
    named('left.npy', system!, process.pid),
    named('left.npy', elsewhere, 999_999_999),
    named('right.npy', system!, 999_999_999),
  ];
  for (const name of [...gone, ...kept]) writeFileSync(join(where, name), 'x');
  utimesSync(join(where, gone[1]!), 0, 0);
  const output = await openOutputFile(join(where, 'left.npy'));
  const own = others(where, ...kept);
  assert.is(own.length, 1);
  await output.discard();
  assert.equal(readdirSync(where).sort(), kept.sort());
});

test('The file of a writer that waits for hours, like a manifest for its rows, is not taken as a leftover.', async () => {
  const where = fresh('patient');
  const path = join(where, 'draws.npy.json');
  const { setInterval: real } = globalThis;
  const ticks: (() => void)[] = [];
  globalThis.setInterval = ((work: () => void, milliseconds: number) => {
    assert.ok(milliseconds < 3_600_000 / 2);
    ticks.push(work);
    return real(() => {}, milliseconds);
  }) as typeof setInterval;
  const patient = await OutputFile.open(path).finally(() => {
    globalThis.setInterval = real;
  });
  const [own] = others(where);
  utimesSync(join(where, own!), 0, 0);
  assert.is(ticks.length, 1);
  for (const tick of ticks) tick();
  const deadline = Date.now() + 10_000;
  while (statSync(join(where, own!)).mtimeMs === 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 5));
  // Another thread, or another machine, does not know whose file it is.
  const other = `import { openOutputFile } from '${moduleUrl('lib/file/output.ts')}';
    await (await openOutputFile(${JSON.stringify(path)})).discard();`;
  const { code } = await runNode([...nodeOptions, '--input-type=module', '--eval', other]);
  assert.is(code, 0);
  await finishText(patient, '{}');
  await patient.replace();
  assert.equal(readdirSync(where), ['draws.npy.json']);
});

test('The system in a file name differs between namespaces of process numbers.', () => {
  const script = `import { writer } from '${moduleUrl('lib/file/temporary-name.ts')}'; console.log(writer())`;
  const args = [process.execPath, ...nodeOptions, '--input-type=module', '--eval', script];
  const inside = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', ...args], { encoding: 'utf8' });
  if (inside.error !== undefined || inside.status !== 0)
    return console.log(`skipped  namespaces: unshare fails (${inside.error?.message ?? inside.stderr.trim()})`);
  const outside = spawnSync(args[0]!, args.slice(1), { encoding: 'utf8' });
  assert.match(inside.stdout, /^[0-9a-f]{12}\.\d+\n$/);
  assert.is.not(inside.stdout.split('.')[0], outside.stdout.split('.')[0]);
});

test('Writers of one path in different namespaces of process numbers, as in containers, leave one whole file.', async () => {
  const where = fresh('containers');
  const path = join(where, 'table.npy');
  const script = `
    import { Matrix, writeTable } from '${moduleUrl('lib/index.ts')}';
    const rows = Matrix.from(new Float64Array(100_000).fill(Number(process.argv[1])), { columns: 1 });
    for (let i = 0; i < 10; i++) await writeTable(${JSON.stringify(path)}, rows);`;
  const node = [process.execPath, ...nodeOptions, '--input-type=module', '--eval', script];
  // Each has another process number, which no process has in the others' namespaces.
  const later = 'for i in $(seq $0); do /bin/true; done; "$@"; exit $?';
  const inside = ['--pid', '--fork', '--mount-proc', '--kill-child', 'sh', '-c', later];
  for (let round = 0; round < Number(process.env['COVARIUM_TEST_ROUNDS'] ?? 1); round++) {
    const writers = [1, 2, 3].map((value) => spawn('unshare', [...inside, String(3 * value), ...node, String(value)]));
    const ended = await Promise.all(
      writers.map(async (writer) => {
        let told = '';
        writer.stderr.on('data', (text) => {
          told += text;
        });
        const [code] = await once(writer, 'close').catch((error) => [error]);
        return code === 0 ? '' : `${told}${code}`;
      }),
    );
    if (ended.every((told) => /^unshare:|ENOENT/.test(told)))
      return console.log(`skipped  writers in namespaces: unshare fails (${ended[0]!.trim()})`);
    assert.equal(ended, ['', '', '']);
    const { rows } = await readTable(path);
    assert.is(rows.rows, 100_000);
    assert.ok(rows.data.every((value) => value === rows.data[0]));
    assert.equal(others(where, 'table.npy'), []);
  }
});

test('A name as long as the file system takes can be written.', async () => {
  const path = at(`${'ä'.repeat(125)}.npy`);
  await writeTable(path, [[1]]);
  assert.ok(existsSync(path));
});

test('Two finished files get their names together, or neither does.', async () => {
  const where = fresh('together');
  const [data, manifest] = [join(where, 'data'), join(where, 'data.json')];
  const write = async (text: string) => {
    const [first, second] = [await OutputFile.open(data), await OutputFile.open(manifest)];
    await finishText(first, text);
    await finishText(second, text);
    await OutputFile.replaceBoth(first, second);
  };
  await write('old');
  rmSync(manifest);
  // A folder can't be replaced by a file.
  const [first, second] = [await OutputFile.open(data), await OutputFile.open(manifest)];
  mkdirSync(manifest);
  await finishText(first, 'new');
  await finishText(second, 'new');
  await throwsCode('ERR_FILE_UNWRITABLE', data, () => OutputFile.replaceBoth(first, second));
  assert.is(readFileSync(data, 'utf8'), 'old');
  assert.equal(others(where, 'data', 'data.json'), []);
  rmSync(manifest, { recursive: true });
  await write('new');
  assert.equal([readFileSync(data, 'utf8'), readFileSync(manifest, 'utf8')], ['new', 'new']);
  await Promise.all(Array.from({ length: 12 }, (_, index) => write(`${index}`)));
  assert.is(readFileSync(data, 'utf8'), readFileSync(manifest, 'utf8'));
  assert.equal(others(where, 'data', 'data.json'), []);
});

test("A dead process's lock does not block others.", async () => {
  const where = fresh('locked');
  const path = join(where, 'data');
  const child = spawn(process.execPath, ['-e', '0']);
  await new Promise((resolve) => child.once('exit', resolve));
  const [, system] = /\.([0-9a-f]{12})\.\d+\.[0-9a-f]{8}\.partial$/.exec(partialPath('x'))!;
  writeFileSync(join(where, '.data.lock'), `${system}.${child.pid}.01234567`);
  const files = [await OutputFile.open(path), await OutputFile.open(`${path}.json`)] as const;
  for (const file of files) await finishText(file, 'x');
  await OutputFile.replaceBoth(...files);
  assert.equal(readdirSync(where).sort(), ['data', 'data.json']);
});

test('A lock without the name of its owner blocks others for less time than a lock of another system.', async () => {
  const where = fresh('nameless');
  const write = async (name: string, lock: string) => {
    const path = join(where, name);
    writeFileSync(join(where, `.${name}.lock`), lock);
    const files = [await OutputFile.open(path), await OutputFile.open(`${path}.json`)] as const;
    for (const file of files) await finishText(file, 'x');
    await OutputFile.replaceBoth(...files);
    return name;
  };
  const other = write('other', `0123456789ab.${process.pid}.01234567`);
  assert.is(await Promise.race([other, write('killed', '')]), 'killed');
  rmSync(join(where, '.other.lock'));
  await other;
  assert.equal(readdirSync(where).sort(), ['killed', 'killed.json', 'other', 'other.json']);
});

test("Something else in a lock's place is refused by name, whether it is a folder, a dangling link or a pipe.", async () => {
  const where = fresh('planted');
  const path = join(where, 'data');
  const lock = join(where, '.data.lock');
  const plant: Record<string, () => void> = {
    folder: () => mkdirSync(join(lock, 'within'), { recursive: true }),
    link: () => symlinkSync(join(where, 'nothing'), lock),
    pipe: () => spawnSync('mkfifo', [lock]),
  };
  for (const [what, make] of Object.entries(plant)) {
    const files = [await OutputFile.open(path), await OutputFile.open(`${path}.json`)] as const;
    for (const file of files) await finishText(file, what);
    make();
    if (!readdirSync(where).includes('.data.lock')) continue;
    await throwsCode('ERR_FILE_UNWRITABLE', `(${lock}), where its lock is made, is not a file`, () =>
      OutputFile.replaceBoth(...files),
    );
    assert.equal(readdirSync(where), ['.data.lock']);
    // It is refused before the work, too, which may take hours.
    await throwsCode('ERR_FILE_UNWRITABLE', lock, () => requireManifestPlace(path));
    rmSync(lock, { recursive: true });
  }
});

test("A lock that another user has planted, and that can't be removed, is refused.", async () => {
  if (process.getuid?.() !== 0) return console.log('skipped  a lock of another user: only root becomes another');
  const where = fresh('sticky');
  writeFileSync(join(where, '.data.lock'), '');
  chmodSync(folder, 0o755);
  chmodSync(where, 0o1777);
  const script = `
    import { finishText, OutputFile } from '${moduleUrl('lib/file/output.ts')}';
    process.setuid(65534);
    const files = [await OutputFile.open('data'), await OutputFile.open('data.json')];
    for (const file of files) await finishText(file, 'x');
    await OutputFile.replaceBoth(...files).catch(({ code, message }) => console.log(code, message));`;
  const args = [...nodeOptions, '--input-type=module', '--eval', script];
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: where, encoding: 'utf8', timeout: 60_000 });
  assert.is(status, 0);
  assert.match(
    stdout,
    /^ERR_FILE_UNWRITABLE File \(data\) .*\.data\.lock\), where its lock is made, cannot be removed \(E/,
  );
  assert.equal(readdirSync(where), ['.data.lock']);
});

test.run();
