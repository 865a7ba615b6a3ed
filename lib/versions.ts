import { createRequire } from 'node:module';
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';

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
  const { version } = createRequire(import.meta.url)('covarium/package.json') as { version: string };
  return {
    covarium: version,
    node: process.versions.node,
    system: `${platform()} ${release()} ${arch()}`,
    processor: cpus()[0]?.model.trim() || 'unknown',
    processors: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
}
