import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cannotWrite } from '../file/error.ts';
import { packageFolder } from './file.ts';

/**
 * Copies the addon's sources into a new folder for node-gyp, and returns that folder, which the caller removes. The new
 * folder has no spaces in its path, which make does not support, and is writable even if the package is not. Throws
 * `ERR_FILE_UNWRITABLE`, `ERR_DISK_FULL`.
 */
export function stageSources(): string {
  const prefix = join(tmpdir(), 'covarium-build-');
  let stage = '';
  try {
    stage = mkdtempSync(prefix);
    for (const name of ['objc', 'msl', 'package.json']) copy(join(packageFolder(), name), join(stage, name));
    // build.mjs puts these two there: binding.gyp, and the headers of the development dependency.
    copy(join(packageFolder(), 'dist', 'binding.gyp'), join(stage, 'binding.gyp'));
    copy(join(packageFolder(), 'dist', 'node-addon-api'), join(stage, 'node-addon-api'));
    return stage;
  } catch (error) {
    if (stage !== '') rmSync(stage, { recursive: true, force: true });
    throw cannotWrite(stage === '' ? prefix : stage, error);
  }
}

/** Does not use cpSync, which copies modes too: a copy of a read-only folder would be read-only. */
function copy(from: string, to: string): void {
  if (!statSync(from).isDirectory()) {
    writeFileSync(to, readFileSync(from));
    return;
  }
  mkdirSync(to);
  for (const name of readdirSync(from)) copy(join(from, name), join(to, name));
}
