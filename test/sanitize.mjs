// npm run test:sanitize [-- parts of file names]
//
// The native part under clang's sanitizers: the drivers of test/metal/softmetal (address, leak, undefined behaviour;
// threads), then the tests of native code with an addon built for the address and undefined-behaviour sanitizers.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const drivers = spawnSync(process.execPath, [`${folder}test/metal/softmetal/sanitize.mjs`], {
  cwd: folder,
  stdio: 'inherit',
});
if (drivers.status === 2) process.exit(2); // the command has said what is missing
const tests = spawnSync(process.execPath, ['--import', 'tsx', `${folder}test/run.ts`, ...process.argv.slice(2)], {
  cwd: folder,
  stdio: 'inherit',
  env: {
    ...process.env,
    COVARIUM_ADDON: `${folder}build-soft-asan/covarium.node`,
    COVARIUM_SANITIZED: 'address',
  },
});
process.exitCode = drivers.status === 0 && tests.status === 0 ? 0 : 1;
