// node together.mjs FILE...: reads and runs compiled test files one after the other. The lines before and after each
// tell test/run.ts what it printed, its exit code and its seconds.
import { pathToFileURL } from 'node:url';

globalThis.UVU_DEFER = 1;
const { exec } = await import('uvu');
let worst = 0;
for (const path of process.argv.slice(2)) {
  const begin = performance.now();
  process.stdout.write(`\n=== begin ${path}\n`);
  globalThis.UVU_QUEUE.splice(0, Number.POSITIVE_INFINITY, [null]);
  await import(pathToFileURL(path).href);
  await exec();
  worst = Math.max(worst, process.exitCode);
  process.stdout.write(`\n=== end ${process.exitCode} ${((performance.now() - begin) / 1000).toFixed(1)}\n`);
}
process.exitCode = worst;
