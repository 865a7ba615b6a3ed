import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from '../../harness/installed-package.ts';

const clone = fileURLToPath(new URL('../../..', import.meta.url));
const libc = process.platform === 'linux' ? '.glibc' : '';
const prebuilt = join(clone, 'prebuilds', `${process.platform}-${process.arch}`, `covarium${libc}.node`);
// The id of `nobody` on Debian; any user without files will do.
const nobody = 65534;

function newestMs(path: string): number {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

/** Why no tarball with an addon for this machine can be made; '' if one can. */
export function noTarball(): string {
  const how = '`npm run test:package` makes it';
  if (!existsSync(prebuilt)) return `The prebuilt addon is missing: ${how}.`;
  const newest = Math.max(...['objc', 'msl'].map((name) => newestMs(join(clone, name))));
  return newestMs(prebuilt) < newest ? `The prebuilt addon is older than its sources: ${how}.` : '';
}

/** A project with the packed tarball as its only dependency; nobody may write to it. */
export class InstalledTarball {
  readonly tarball: string;
  readonly project: string;
  /** The folder of the installed package. */
  readonly folder: string;
  /** Where programs may write. */
  readonly work: string;
  /** True if programs run as a user who can't write to the project; root can write in spite of file modes. */
  readonly isReadOnly: boolean;
  readonly #user: { uid?: number; gid?: number } = {};

  constructor() {
    // Node names a module by its real path; a Mac's folder for temporary files is a link.
    const top = mkdtempSync(join(realpathSync(tmpdir()), 'covarium-tarball-'));
    this.project = join(top, 'Ein Ordner für Übungen');
    this.folder = join(this.project, 'node_modules', 'covarium');
    this.work = join(top, 'work');
    for (const path of [this.project, this.work]) mkdirSync(path);
    process.on('exit', () => {
      this.#change('u+w');
      rmSync(top, { recursive: true, force: true });
    });
    const packed = npm(clone, 'pack', '--json', '--ignore-scripts', '--pack-destination', top);
    this.tarball = join(top, JSON.parse(packed)[0].filename);
    writeFileSync(join(this.project, 'package.json'), '{ "private": true, "type": "module" }');
    npm(this.project, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', this.tarball);
    for (const name of ['draw.cjs', 'import.mjs', 'require.cjs'])
      cpSync(join(clone, 'test/repo/tarball', name), join(this.project, name));
    chmodSync(top, 0o755);
    chmodSync(this.work, 0o777);
    if (process.getuid?.() === 0) this.#user = { uid: nobody, gid: nobody };
    this.#change('a+rX,a-w');
    this.isReadOnly = this.run(process.execPath, '--eval', 'process.chdir(process.argv[1])', this.project).status === 0;
    if (!this.isReadOnly) this.#user = {};
  }

  /** Runs a program in the work folder, with no environment variable for covarium set. */
  run(program: string, ...args: string[]): SpawnSyncReturns<string> {
    const { PATH: found } = process.env as { PATH?: string };
    const PATH = `${dirname(process.execPath)}:${found}`;
    const env = {
      ...plainEnvironment(),
      PATH,
      HOME: this.work,
      TMPDIR: this.work,
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
    };
    const options = {
      cwd: this.work,
      env,
      encoding: 'utf8',
      timeout: 120_000,
      killSignal: 'SIGKILL',
      ...this.#user,
    } as const;
    return spawnSync(program, args, options);
  }

  /** The `covarium` command under the name that npm gives it. */
  command(...args: string[]): SpawnSyncReturns<string> {
    return this.run(join(this.project, 'node_modules', '.bin', 'covarium'), ...args);
  }

  /** Files of the project, with their sizes. */
  files(): string[] {
    return readdirSync(this.project, { recursive: true, encoding: 'utf8' })
      .map((path) => `${path} (${statSync(join(this.project, path)).size})`)
      .sort();
  }

  #change(mode: string): void {
    spawnSync('chmod', ['-R', mode, this.project]);
  }
}

function npm(cwd: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', env: plainEnvironment() });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} fails (${status}):\n${stdout}${stderr}`);
  return stdout;
}
