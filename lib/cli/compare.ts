import { join } from 'node:path';
import { describe } from '../check.ts';
import { CovariumError, loading } from '../covarium-error.ts';
import { standardOutput, writeTextFile } from '../file/output.ts';
import { refuseInputs, refuseSameOutput } from '../file/same-file.ts';
import { requireFileNames } from './arguments.ts';

/** Options of `covarium compare`, as typed. */
interface CompareArguments {
  readonly contenders?: string;
  readonly failOver?: string;
  readonly markdown?: string;
  readonly html?: string;
}

/**
 * `covarium compare a/results.json b/results.json`: compares runs of the benchmark. With `--fail-over` the exit code is
 * 1 if a side is slower than the first, beyond the noise and by more than that ratio.
 */
export async function compareResults(paths: readonly string[], options: CompareArguments): Promise<void> {
  const failOver = options.failOver === undefined ? undefined : ratioArgument('--fail-over', options.failOver);
  const contenders = options.contenders?.split(',').map((name) => name.trim());
  // Loaded here, so that other commands start without it.
  const [{ compare, slowerThan }, { readResults }, { comparisonDocument, comparisonTitle }, { terminalText }] =
    await loading(
      Promise.all([
        import('../../bench/compare.ts'),
        import('../../bench/read-results.ts'),
        import('../../bench/comparison/document.ts'),
        import('../../bench/comparison/terminal.ts'),
      ]),
    );
  await refuseInputs(
    [options.markdown, options.html],
    paths.flatMap((path) => [path, join(path, 'results.json')]),
  );
  await requireFileNames({ '--markdown': options.markdown, '--html': options.html });
  await refuseSameOutput(options.markdown, options.html);
  const runs = await Promise.all(paths.map(async (path) => ({ label: path, results: await readResults(path) })));
  const comparison = compare(runs, contenders);
  const blocks = comparisonDocument(comparison, failOver);
  if (options.markdown !== undefined) {
    const { markdown } = await loading(import('../../bench/report/markdown.ts'));
    await writeTextFile(options.markdown, markdown(blocks));
  }
  if (options.html !== undefined) {
    const { html } = await loading(import('../../bench/report/html.ts'));
    await writeTextFile(options.html, html(comparisonTitle, blocks));
  }
  await standardOutput().write(Buffer.from(terminalText(blocks)));
  if (failOver === undefined) return;
  if (!comparison.rows.some(({ others }) => others.some((other) => other !== null && other.interval !== null)))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `--fail-over (${failOver}) cannot be judged: no case was timed by two sides in enough rounds.`,
    );
  if (slowerThan(comparison, failOver).length > 0) process.exitCode = 1;
}

/** A ratio of the command line; throws `ERR_OUT_OF_RANGE`. */
function ratioArgument(name: string, text: string): number {
  const ratio = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && ratio >= 1) return ratio;
  throw new CovariumError('ERR_OUT_OF_RANGE', `${name} is not a ratio from 1 (${describe(text)}).`);
}
