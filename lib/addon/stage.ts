import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cannotWrite } from '../file/error.ts';
import { packageFolder } from './file.ts';

/**
 * Copies what the addon is made of into a new folder, for node-gyp, and returns that folder, for the caller to remove.
 *
 * A folder of its own has no spaces in its path, which make can't bear, is writable wherever the package lies, and
 * keeps binding.gyp out of the package: where npm sees one, it runs node-gyp. Throws `ERR_FILE_UNWRITABLE`,
 * `ERR_DISK_FULL`.
 */
export function stageSources(): string {
  let stage = '';
  try {
    stage = mkdtempSync(join(tmpdir(), 'covarium-build-'));
    for (const name of ['objc', 'msl', 'package.json']) copy(join(packageFolder(), name), join(stage, name));
    renameSync(join(stage, 'objc', 'covarium.gyp'), join(stage, 'binding.gyp'));
    // build.mjs puts the headers of the development dependency there.
    copy(join(packageFolder(), 'dist', 'node-addon-api'), join(stage, 'node-addon-api'));
    return stage;
  } catch (error) {
    if (stage !== '') rmSync(stage, { recursive: true, force: true });
    throw cannotWrite(stage === '' ? tmpdir() : stage, error);
  }
}

/** Not by cpSync, which copies modes too: where the package takes no file, such a copy would take none either. */
function copy(from: string, to: string): void {
  if (!statSync(from).isDirectory()) {
    writeFileSync(to, readFileSync(from));
    return;
  }
  mkdirSync(to);
  for (const name of readdirSync(from)) copy(join(from, name), join(to, name));
}
