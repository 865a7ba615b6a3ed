// What a program loads: ES modules, CommonJS modules, and native libraries beyond Node's own. It runs in a separate
// process under a hook that takes time, so timed runs do not use it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const hook = `
import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  if (url.startsWith('file:')) appendFileSync(process.env.LOADED_MODULES, url + '\\n');
  return next(url, context);
}`;

const ending = `
import { createRequire } from 'node:module';
const required = Object.keys(createRequire(import.meta.url).cache).filter((path) => !path.endsWith('.node'));
process.stdout.write(JSON.stringify({ required, libraries: process.report.getReport().sharedObjects }));`;

function run(text, folder) {
  const program = join(folder, 'program.mjs');
  const hooks = join(folder, 'hooks.mjs');
  const list = join(folder, 'loaded.txt');
  writeFileSync(program, text + ending);
  writeFileSync(hooks, hook);
  writeFileSync(list, '');
  const register = `import { register } from 'node:module'; register(${JSON.stringify(pathToFileURL(hooks).href)});`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(register)}`, program];
  const env = { ...process.env, LOADED_MODULES: list };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  if (status !== 0) throw new Error(`The program fails (${status}): ${stderr}`);
  const { required, libraries } = JSON.parse(stdout);
  const imported = readFileSync(list, 'utf8')
    .trimEnd()
    .split('\n')
    .map((url) => fileURLToPath(url));
  return {
    modules: [...new Set([...imported, ...required])].filter((path) => path !== program && !path.endsWith('.node')),
    libraries,
  };
}

/** `modules` and `libraries`, as paths, that `text`, a module, loads. */
export function loadedModules(text) {
  // Node names a module by its real path; a Mac's folder for temporary files is a link.
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'covarium-loaded-'));
  try {
    const own = new Set(run('', folder).libraries);
    const { modules, libraries } = run(text, folder);
    return { modules, libraries: libraries.filter((path) => !own.has(path)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
