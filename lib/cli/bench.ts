import { join } from 'node:path';
import type { BenchmarkArguments } from '../../bench/benchmark-options.ts';
import { loading } from '../covarium-error.ts';
import { standardOutput } from '../file/output.ts';
import { benchProgress } from './progress.ts';

/** Options of `covarium bench`, as typed. */
interface BenchArguments extends BenchmarkArguments {
  readonly output: string;
}

/**
 * `covarium bench`: measures this machine's devices, and writes results and a report. Its code is loaded only when it
 * is called.
 */
export async function bench(suites: readonly string[], options: BenchArguments, signal: AbortSignal): Promise<void> {
  const { benchmark } = await loading(import('../../bench/benchmark.ts'));
  const { terminalSummary } = await loading(import('../../bench/report/terminal.ts'));
  const progress = benchProgress();
  try {
    const results = await benchmark(suites, options, options.output, progress, signal);
    progress.stop();
    const place = `${results.partial ? 'Interrupted, so this is partial' : 'The report'}: ${join(options.output, 'report.html')}`;
    await standardOutput().write(Buffer.from(`${terminalSummary(results)}\n${place}\n`));
  } finally {
    progress.stop();
  }
  signal.throwIfAborted();
}
