import { join, resolve } from 'node:path';
import { packageFolder } from '../../lib/addon/file.ts';
import type { Contender } from '../contender.ts';
import { mlMatrix } from './ml-matrix.ts';
import { multivariateNormal } from './multivariate-normal.ts';
import { type PeerLimits, peerLimits } from './peer-limits.ts';
import { startProcessPeer } from './process-peer.ts';

type Starter = (limits: PeerLimits) => Contender | Promise<Contender>;

const starters: Readonly<Record<string, Starter>> = {
  'multivariate-normal': multivariateNormal,
  'ml-matrix': mlMatrix,
  numpy: (limits) => python('numpy', 'numpy_default.py', limits),
  'numpy-by-hand': (limits) => python('numpy-by-hand', 'numpy_by_hand.py', limits),
  torch: (limits) => python('torch', 'torch_peer.py', limits),
  'torch-cuda': (limits) => python('torch-cuda', 'torch_cuda_peer.py', limits),
  cupy: (limits) => python('cupy', 'cupy_peer.py', limits),
  pandas: (limits) => python('pandas', 'pandas_peer.py', limits),
  pyarrow: (limits) => python('pyarrow', 'pyarrow_peer.py', limits),
  scipy: (limits) => python('scipy', 'scipy_peer.py', limits),
  mvtnorm: (limits) => r('mvtnorm', 'mvtnorm.R', limits),
};

/** The names of all peers, in the order of their rows. */
export const peerNames: readonly string[] = Object.keys(starters);

/**
 * The peers of these names, including those that are not available, with the reason. The caller closes them: some are
 * processes. Python and R are found in PATH, or where `COVARIUM_PYTHON` and `COVARIUM_R` say.
 */
export function peers(names: readonly string[] = peerNames, limits: PeerLimits = peerLimits): Promise<Contender[]> {
  return Promise.all(names.map((name) => starters[name]!(limits)));
}

function python(name: string, script: string, limits: PeerLimits): Promise<Contender> {
  const { COVARIUM_PYTHON: chosen = '' } = process.env;
  // A version manager's python3, first in PATH, often lacks what the system's has.
  const programs = chosen === '' ? ['python3', 'python', '/usr/bin/python3'] : [located(chosen)];
  // -B: leave no compiled files in the package's folder.
  return startProcessPeer({ name, programs, args: ['-B', scriptPath(script)] }, limits);
}

function r(name: string, script: string, limits: PeerLimits): Promise<Contender> {
  const { COVARIUM_R: chosen = '' } = process.env;
  const programs = chosen === '' ? ['Rscript', '/usr/bin/Rscript', '/usr/local/bin/Rscript'] : [located(chosen)];
  // --no-init-file: the output of a user's .Rprofile is not a reply.
  return startProcessPeer({ name, programs, args: ['--no-init-file', scriptPath(script)] }, limits);
}

/** Makes a path absolute, because the process has another working folder. A plain name is looked up in PATH. */
function located(program: string): string {
  return /[/\\]/.test(program) ? resolve(program) : program;
}

function scriptPath(name: string): string {
  return join(packageFolder(), 'bench', 'peers', 'scripts', name);
}
