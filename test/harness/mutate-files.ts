// Reads changed files (mutations.ts) in a separate process that is watched for memory, time and crashes:
//
//     node --import tsx test/harness/mutate-files.ts [--rounds 10000] [--seed 1] [kind ...]
//     node --import tsx test/harness/mutate-files.ts --lies 1 [--file 'covarium, float64'] [format ...]
//
// The second tries all lies (lies.ts) in place of random changes, or all lies about one sound file; `--lies 50` tries
// every fiftieth.
//
// Each file must be read, or refused with a code and no other error, within five seconds and 600 MB, and must pass
// the checks of table-trials.ts or json-trials.ts.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CovariumError } from '../../lib/index.ts';
import { type TableFormat, tableFormats } from '../../lib/table/format.ts';
import { modulePath, nodeOptions } from './child.ts';
import { type JsonKind, jsonKinds, jsonTrials } from './json-trials.ts';
import { Dice } from './mutations.ts';
import { type Trial, tableLies, tableTrials } from './table-trials.ts';

/** The kinds of files that are changed: formats of tables, and JSON files. */
type MutatedKind = TableFormat | JsonKind;

export const mutatedKinds: readonly MutatedKind[] = [...tableFormats, ...jsonKinds];

const isJson = (kind: MutatedKind): kind is JsonKind => (jsonKinds as readonly string[]).includes(kind);

// Processor time, because the machine may be busy.
const longestMs = 5_000;
const mostMegabytes = 600;
// A file that takes longer than this is given up.
const patienceMs = 60_000;

/** What was found wrong with one file. */
export interface Finding {
  readonly kind: MutatedKind;
  /** Name of the sound file. */
  readonly name: string;
  readonly round: number;
  readonly what: string;
  readonly problem: string;
}

export interface Outcome {
  readonly findings: readonly Finding[];
  readonly read: number;
  readonly refused: number;
  readonly megabytes: number;
  readonly slowestMs: number;
}

type Word =
  | { readonly begins: number; readonly what: string; readonly name: string }
  | { readonly finding: Finding }
  | { readonly done: Omit<Outcome, 'findings'> };

/** How files are changed: a number of times at random, from a seed; or by every n-th lie, about one file or all. */
export type Changes =
  | { readonly rounds: number; readonly seed: number }
  | { readonly lies: number; readonly file?: string | undefined };

/**
 * Changes files of a kind. A process that hangs or crashes is reported as a finding, and another process goes on
 * after that file.
 */
export async function mutateFiles(kind: MutatedKind, changes: Changes): Promise<Outcome> {
  const findings: Finding[] = [];
  const sum = { read: 0, refused: 0, megabytes: 0, slowestMs: 0 };
  for (let from = 0; ; ) {
    let at: { begins: number; what: string; name: string } | undefined;
    let isDone = false;
    const problem = await new Promise<string>((resolve) => {
      const child = fork(
        modulePath('test/harness/mutate-files.ts'),
        ['--child', kind, JSON.stringify(changes), `${from}`],
        {
          execArgv: [...nodeOptions],
          stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        },
      );
      let stderr = '';
      child.stderr?.on('data', (chunk) => {
        stderr = (stderr + chunk).slice(-2000);
      });
      let timer: NodeJS.Timeout | undefined;
      child.on('message', (word: Word) => {
        clearTimeout(timer);
        if ('begins' in word) {
          at = word;
          timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
        } else if ('finding' in word) findings.push(word.finding);
        else {
          isDone = true;
          sum.read += word.done.read;
          sum.refused += word.done.refused;
          sum.megabytes = Math.max(sum.megabytes, word.done.megabytes);
          sum.slowestMs = Math.max(sum.slowestMs, word.done.slowestMs);
        }
      });
      child.on('close', (code, signal) => {
        clearTimeout(timer);
        resolve(
          signal === 'SIGKILL' ? `does not end (${patienceMs} ms)` : `ends the process (${code ?? signal}): ${stderr}`,
        );
      });
    });
    if (isDone) break;
    const { begins, what, name } = at ?? { begins: from, what: 'nothing', name: 'the start' };
    findings.push({ kind, name, round: begins, what, problem });
    from = begins + 1;
  }
  return { ...sum, findings };
}

const allowed =
  /^ERR_(MALFORMED_\w+|UNSUPPORTED|TOO_LARGE|NOT_FINITE|INVALID_ARGUMENT|OUT_OF_RANGE|SHAPE|NOT_SYMMETRIC|NOT_POSITIVE_DEFINITE|TOO_FEW_ROWS)$/;

/** The trials of a kind: how many, and each by its number. */
async function trialsOf(
  kind: MutatedKind,
  changes: Changes,
  folder: string,
): Promise<{ rounds: number; trial: (round: number) => Trial | Promise<Trial> }> {
  if ('lies' in changes) {
    const lies = isJson(kind) ? [] : await tableLies(kind, folder, changes);
    return { rounds: lies.length, trial: (round) => lies[round]! };
  }
  const { rounds, seed } = changes;
  const trials = isJson(kind) ? await jsonTrials(kind, folder) : await tableTrials(kind, folder);
  return { rounds, trial: (round) => trials(new Dice(seed * 1_000_003 + round)) };
}

async function runChild(kind: MutatedKind, changes: Changes, from: number): Promise<void> {
  const tell = (word: Word) => new Promise<void>((resolve) => process.send!(word, () => resolve()));
  const folder = mkdtempSync(join(tmpdir(), 'covarium-mutations-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { rounds, trial } = await trialsOf(kind, changes, folder);
  const counts = { read: 0, refused: 0, slowestMs: 0 };
  for (let round = from; round < rounds; round++) {
    const { name, what, run } = await trial(round);
    await tell({ begins: round, what, name });
    const report = (problem: string) => tell({ finding: { kind, name, round, what, problem } });
    const begin = process.cpuUsage();
    try {
      const problem = await run();
      counts.read++;
      if (problem !== undefined) await report(problem);
    } catch (error) {
      counts.refused++;
      const { code, message, stack } = error as CovariumError;
      const isKnown = error instanceof CovariumError && allowed.test(code);
      if (!isKnown) await report(`throws (${code ?? 'no code'}) ${stack ?? message}`);
      else if (/Cannot read|(?<!\()undefined|is not a function|Invalid typed array|out of bounds/.test(message))
        await report(`is refused with foreign words: ${message}`);
    }
    const { user, system } = process.cpuUsage(begin);
    const took = (user + system) / 1e3;
    counts.slowestMs = Math.max(counts.slowestMs, took);
    if (took > longestMs) await report(`takes (${took.toFixed(0)}) ms`);
    const megabytes = process.resourceUsage().maxRSS / 1024;
    if (megabytes > mostMegabytes) {
      await report(`takes (${megabytes.toFixed(0)}) MB`);
      process.exit(0);
    }
  }
  await tell({ done: { ...counts, megabytes: process.resourceUsage().maxRSS / 1024 } });
  process.exit(0);
}

async function main(): Promise<void> {
  if (process.argv[2] === '--child') {
    const [kind, changes, from] = process.argv.slice(3) as [MutatedKind, string, string];
    return runChild(kind, JSON.parse(changes) as Changes, Number(from));
  }
  const { values, positionals } = parseArgs({
    options: {
      rounds: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      lies: { type: 'string' },
      file: { type: 'string' },
    },
    allowPositionals: true,
  });
  const { rounds, seed, lies, file } = values;
  const changes = lies === undefined ? { rounds: Number(rounds), seed: Number(seed) } : { lies: Number(lies), file };
  for (const kind of positionals.length > 0 ? (positionals as MutatedKind[]) : mutatedKinds) {
    const { findings, read, refused, megabytes, slowestMs } = await mutateFiles(kind, changes);
    for (const { name, round, what, problem } of findings)
      console.log(`${kind}, round ${round}, ${name} (${what}): ${problem}`);
    console.log(
      `${kind}: (${read}) read, (${refused}) refused, (${findings.length}) wrong; at most (${megabytes.toFixed(0)}) MB and (${slowestMs.toFixed(0)}) ms`,
    );
    if (findings.length > 0) process.exitCode = 1;
  }
}

if (
  process.argv[1] === modulePath('test/harness/mutate-files.ts') ||
  process.argv[1] === fileURLToPath(import.meta.url)
)
  await main();
