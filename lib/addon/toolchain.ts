import { spawnSync } from 'node:child_process';
import { CovariumError } from '../covarium-error.ts';

const help: { readonly [platform: string]: string } = {
  linux:
    'Debian or Ubuntu: apt-get install python3 make g++; Fedora: dnf install python3 make gcc-c++; Alpine: apk add python3 make g++',
  darwin: 'xcode-select --install',
};

/** Checks that the tools of node-gyp are installed: Python, make and a C++ compiler. Throws `ERR_TOOLCHAIN_MISSING`. */
export function requireToolchain(env: NodeJS.ProcessEnv = process.env): void {
  if (process.platform === 'win32')
    throw new CovariumError('ERR_UNSUPPORTED', `The addon cannot be built for this platform (${process.platform}).`);
  const { PYTHON, npm_config_python, MAKE, CXX } = env;
  requireOneOf('Python 3', [npm_config_python ?? '', PYTHON ?? '', 'python3', 'python'], env);
  requireOneOf('make', MAKE ? [MAKE] : ['gmake', 'make'], env);
  // make runs the command in CXX, which may have several words.
  requireOneOf('A C++ compiler', CXX ? [CXX.split(' ')[0]!] : ['g++', 'c++', 'clang++'], env);
}

function requireOneOf(what: string, commands: readonly string[], env: NodeJS.ProcessEnv): void {
  const asked = commands.filter((command) => command !== '');
  if (asked.some((command) => spawnSync(command, ['--version'], { env, stdio: 'ignore' }).status === 0)) return;
  const advice = help[process.platform];
  throw new CovariumError(
    'ERR_TOOLCHAIN_MISSING',
    `${what} is not found (${asked.join(', ')}).${advice === undefined ? '' : ` Install it: ${advice}.`}`,
  );
}
