// Reads files that were changed (mutations.ts), in a process of its own that is watched for memory, time and crashes:
//
//     node --import tsx test/harness/mutate-files.ts [--rounds 10000] [--seed 1] [format ...]
//
// What must hold of each: numbers or a refusal with a code, never another error; no more than five seconds; no more
// than 600 MB; where nothing but structure was changed, the same numbers as before or a refusal; and of CSV the same
// answer from the addon and from TypeScript.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CovariumError, readTable } from '../../lib/index.ts';
import { openCsv, plainParser } from '../../lib/table/csv-reader.ts';
import { type TableFormat, tableFormats } from '../../lib/table/format.ts';
import { modulePath, nodeOptions } from './child.ts';
import { mutationSeeds } from './mutation-seeds.ts';
import { anatomyOf, Dice, mutate } from './mutations.ts';

const longestMs = 5_000;
const mostMegabytes = 600;
// A file is given up after this: the machine may be busy.
const patienceMs = 60_000;

/** What was found wrong with one file. */
export interface Finding {
  readonly format: TableFormat;
  /** Of the sound file. */
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

/**
 * Changes files of a format so many times. A process that hangs or crashes is told as a finding, and another goes on
 * behind it.
 */
export async function mutateFiles(format: TableFormat, rounds: number, seed: number): Promise<Outcome> {
  const findings: Finding[] = [];
  const sum = { read: 0, refused: 0, megabytes: 0, slowestMs: 0 };
  for (let from = 0; from < rounds; ) {
    let at: { begins: number; what: string; name: string } | undefined;
    let isDone = false;
    const problem = await new Promise<string>((resolve) => {
      const child = fork(
        modulePath('test/harness/mutate-files.ts'),
        ['--child', format, `${rounds}`, `${seed}`, `${from}`],
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
    findings.push({ format, name, round: begins, what, problem });
    from = begins + 1;
  }
  return { ...sum, findings };
}

interface Request {
  readonly columns: readonly string[] | undefined;
  readonly member: string | undefined;
  readonly comment: string | undefined;
}

async function numbersByTypeScript(bytes: Buffer, request: Request & { readonly missing: 'drop' }): Promise<number[]> {
  const reader = await openCsv(bytes, request, plainParser);
  const numbers: number[] = [];
  for await (const block of reader.blocks()) for (const value of block) numbers.push(value);
  return numbers;
}

async function answerOf(numbers: Promise<number[]>): Promise<string> {
  return numbers.then(
    (all) => all.join(),
    (error: CovariumError) => error.code,
  );
}

const allowed = /^ERR_(MALFORMED_\w+|UNSUPPORTED|TOO_LARGE|NOT_FINITE|INVALID_ARGUMENT|OUT_OF_RANGE|SHAPE)$/;

async function runChild(format: TableFormat, rounds: number, seed: number, from: number): Promise<void> {
  const tell = (word: Word) => new Promise<void>((resolve) => process.send!(word, () => resolve()));
  const folder = mkdtempSync(join(tmpdir(), 'covarium-mutations-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const seeds = (await mutationSeeds(format)).map((each) => ({ ...each, anatomy: anatomyOf(format, each.bytes) }));
  const path = join(folder, `changed.${format}`);
  const numbersOf = async (bytes: Buffer, request: Request) => {
    writeFileSync(path, bytes);
    const options = { ...request, missing: 'drop', warn: () => {} } as const;
    const reading = readTable(path, { format, ...options });
    if (format === 'csv') {
      const answer = await answerOf(reading.then(({ rows }) => Array.from(rows.data)));
      const plain = await answerOf(numbersByTypeScript(bytes, options));
      if (answer !== plain) throw new Error(`the addon: ${answer}; TypeScript: ${plain}`);
    }
    const { rows, dropped } = await reading;
    if (rows.data.some((value) => !Number.isFinite(value))) throw new Error('a number that is not finite is let in');
    return { rows: rows.rows, dropped, text: Array.from(rows.data).join() };
  };
  const sound = new Map<string, Awaited<ReturnType<typeof numbersOf>>>();
  const counts = { read: 0, refused: 0, slowestMs: 0 };
  for (let round = from; round < rounds; round++) {
    const dice = new Dice(seed * 1_000_003 + round);
    const { name, bytes, columns, anatomy, member } = dice.of(seeds);
    // All columns, or one: a fault in another than the first is then not hidden by a refusal of the first.
    const chosen = columns === undefined || dice.below(4) === 0 ? columns : [dice.of(columns)];
    const comment = format === 'csv' && dice.below(3) === 0 ? '#' : undefined;
    const request = { columns: chosen, member, comment };
    const key = JSON.stringify([name, request]);
    const original = sound.get(key) ?? (await numbersOf(bytes, request).catch(() => undefined));
    if (original !== undefined) sound.set(key, original);
    const mutation = mutate(bytes, anatomy, dice);
    const what = `${mutation.what}; columns ${chosen?.join() ?? 'all'}`;
    await tell({ begins: round, what, name });
    const report = (problem: string) => tell({ finding: { format, name, round, what, problem } });
    const begin = performance.now();
    try {
      const found = await numbersOf(mutation.bytes, request);
      counts.read++;
      const { regions } = mutation;
      if (original !== undefined && !regions.has('schema')) {
        const [before, after] = [original.rows + original.dropped, found.rows + found.dropped];
        if (format !== 'csv' && before !== after) await report(`has (${after}) rows, not (${before})`);
        else if (!regions.has('numbers') && found.text !== original.text) await report('is read as other numbers');
      }
    } catch (error) {
      counts.refused++;
      const { code, message, stack } = error as CovariumError;
      const isKnown = error instanceof CovariumError && allowed.test(code);
      if (!isKnown) await report(`throws (${code ?? 'no code'}) ${stack ?? message}`);
      else if (/Cannot read|undefined|is not a function|Invalid typed array|out of bounds/.test(message))
        await report(`is refused with foreign words: ${message}`);
    }
    const took = performance.now() - begin;
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
    const [format, rounds, seed, from] = process.argv.slice(3);
    return runChild(format as TableFormat, Number(rounds), Number(seed), Number(from));
  }
  const { values, positionals } = parseArgs({
    options: { rounds: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
    allowPositionals: true,
  });
  for (const format of positionals.length > 0 ? (positionals as TableFormat[]) : tableFormats) {
    const { findings, read, refused, megabytes, slowestMs } = await mutateFiles(
      format,
      Number(values.rounds),
      Number(values.seed),
    );
    for (const { name, round, what, problem } of findings)
      console.log(`${format}, round ${round}, ${name} (${what}): ${problem}`);
    console.log(
      `${format}: (${read}) read, (${refused}) refused, (${findings.length}) wrong; at most (${megabytes.toFixed(0)}) MB and (${slowestMs.toFixed(0)}) ms`,
    );
    if (findings.length > 0) process.exitCode = 1;
  }
}

if (
  process.argv[1] === modulePath('test/harness/mutate-files.ts') ||
  process.argv[1] === fileURLToPath(import.meta.url)
)
  await main();
