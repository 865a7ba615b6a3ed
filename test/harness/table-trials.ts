// What a changed table must give: finite numbers or a refusal; if only structure was changed, the same numbers as
// before or a refusal; and for CSV the same result from the addon and from TypeScript.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CovariumError, readTable } from '../../lib/index.ts';
import { openCsv, plainParser } from '../../lib/table/csv-reader.ts';
import type { TableFormat } from '../../lib/table/format.ts';
import { liesAbout } from './lies.ts';
import { type MutationSeed, mutationSeeds } from './mutation-seeds.ts';
import { anatomyOf, type Dice, mutate, type Region } from './mutations.ts';

/** A changed file. */
export interface Trial {
  /** Name of the sound file. */
  readonly name: string;
  readonly what: string;
  /** Reads it: resolves to what is wrong with what was read, if anything, and rejects with the refusal. */
  run(): Promise<string | undefined>;
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

/** A file that was changed in these regions. */
interface Changed {
  readonly seed: MutationSeed;
  readonly bytes: Buffer;
  readonly regions: ReadonlySet<Region>;
}

/** Reads changed files and compares the result with that of the sound ones. */
function comparing(
  format: TableFormat,
  folder: string,
): (changed: Changed, request: Request) => Promise<string | undefined> {
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
  return async ({ seed, bytes, regions }, request) => {
    const key = JSON.stringify([seed.name, request]);
    const original = sound.get(key) ?? (await numbersOf(seed.bytes, request).catch(() => undefined));
    if (original !== undefined) sound.set(key, original);
    const found = await numbersOf(bytes, request);
    if (original === undefined || regions.has('schema')) return undefined;
    const [before, after] = [original.rows + original.dropped, found.rows + found.dropped];
    if (format !== 'csv' && before !== after) return `has (${after}) rows, not (${before})`;
    return !regions.has('numbers') && found.text !== original.text ? 'is read as other numbers' : undefined;
  };
}

/** Changes files of a format, each by the dice that it is given. */
export async function tableTrials(format: TableFormat, folder: string): Promise<(dice: Dice) => Promise<Trial>> {
  const seeds = (await mutationSeeds(format)).map((each) => ({ ...each, anatomy: anatomyOf(format, each.bytes) }));
  const compare = comparing(format, folder);
  return async (dice) => {
    const seed = dice.of(seeds);
    const { name, bytes, columns, anatomy, member } = seed;
    // All columns or only one, so that a refusal of the first column does not hide a fault in another.
    const chosen = columns === undefined || dice.below(4) === 0 ? columns : [dice.of(columns)];
    const comment = format === 'csv' && dice.below(3) === 0 ? '#' : undefined;
    const request = { columns: chosen, member, comment };
    const { what, bytes: changed, regions } = mutate(bytes, anatomy, dice);
    const run = () => compare({ seed, bytes: changed, regions }, request);
    return { name, what: `${what}; columns ${chosen?.join() ?? 'all'}`, run };
  };
}

/** Lies (lies.ts) about the sound files of a format, or about the file with that name: every n-th lie. */
export async function tableLies(
  format: TableFormat,
  folder: string,
  { lies: each, file }: { readonly lies: number; readonly file?: string | undefined },
): Promise<Trial[]> {
  const compare = comparing(format, folder);
  const trials: Trial[] = [];
  for (const seed of await mutationSeeds(format)) {
    if (file !== undefined && seed.name !== file) continue;
    const request = { columns: seed.columns, member: seed.member, comment: undefined };
    for (const { what, region, bytes } of liesAbout(format, seed.bytes))
      trials.push({
        name: seed.name,
        what,
        run: () => compare({ seed, bytes: bytes(), regions: new Set([region]) }, request),
      });
  }
  return trials.filter((_, index) => index % each === 0);
}
