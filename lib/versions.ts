import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { nodeRequire } from './node-require.ts';

/** Versions for a bug report. */
export interface Versions {
  readonly covarium: string;
  readonly node: string;
  readonly system: string;
  readonly processor: string;
  readonly processors: number;
  readonly memoryGiB: number;
}

/** Versions of covarium and of its platform. */
export function versions(): Versions {
  const { version } = nodeRequire()('covarium/package.json') as { version: string };
  return {
    covarium: version,
    node: process.versions.node,
    system: `${platform()} ${release()} ${arch()}`,
    processor: cpus()[0]?.model.trim() || 'unknown',
    processors: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
}
