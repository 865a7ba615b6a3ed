import { join } from 'node:path';
import { CovariumError } from '../lib/covarium-error.ts';
import { cannotWrite } from '../lib/file/error.ts';
import { makeFolder } from '../lib/file/folder.ts';
import { openOutputFile } from '../lib/file/output.ts';
import { type BenchmarkArguments, benchmarkOptions } from './benchmark-options.ts';
import { openDevices } from './devices.ts';
import { peerLimits, quickPeerLimits } from './peers/peer-limits.ts';
import { peerNames, peers } from './peers/peers.ts';
import { writeReport } from './report/write-report.ts';
import type { Results } from './results.ts';
import { type Observer, runBenchmark } from './run-benchmark.ts';
import { withoutFolders } from './without-folders.ts';

/**
 * Implements `covarium bench`: runs the named suites (by default all) and writes results.json and the report into
 * `folder`.
 */
export async function benchmark(
  names: readonly string[],
  typed: BenchmarkArguments,
  folder: string,
  observer: Observer,
  signal: AbortSignal,
): Promise<Results> {
  const { devices, peers: withPeers, ...options } = benchmarkOptions(names, typed);
  const begun = performance.now();
  const contenders = openDevices(devices);
  try {
    try {
      makeFolder(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotWrite(folder, error);
      throw new CovariumError('ERR_FILE_UNWRITABLE', `--output (${folder}) is a file: pass the name of a folder.`, {
        path: folder,
        cause: error,
      });
    }
    // A folder that cannot be written is reported now, not after minutes.
    const output = await openOutputFile(join(folder, 'results.json'));
    try {
      if (withPeers) contenders.push(...(await peers(peerNames, options.quick ? quickPeerLimits : peerLimits)));
      const results = withoutFolders(await runBenchmark(options, contenders, observer, signal, begun));
      await output.write(Buffer.from(`${JSON.stringify(results, null, 1)}\n`));
      await output.finish();
      await writeReport(results, folder);
      return results;
    } catch (error) {
      await output.discard();
      throw error;
    }
  } finally {
    for (const contender of contenders) await contender.close();
  }
}
