// What a changed JSON file must do: it is refused, or gives what its text says. It is refused if it has an unknown
// field, or a field twice.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseResults } from '../../bench/read-results.ts';
import { readModel } from '../../lib/cli/model.ts';
import { partialText, readPartial } from '../../lib/cli/partial-fit.ts';
import { Moments, MultivariateNormal, openDevice } from '../../lib/index.ts';
import { manifestText, readManifest, readRunFile } from '../../lib/run/manifest.ts';
import { normalStream, type Run } from '../../lib/run/run.ts';
import { results } from '../bench/some-results.ts';
import type { Dice } from './mutations.ts';
import type { Trial } from './table-trials.ts';

export const jsonKinds = ['model', 'partial', 'manifest', 'run', 'results'] as const;
export type JsonKind = (typeof jsonKinds)[number];

interface Kind {
  readonly seeds: readonly object[];
  /** What the file at `path` says; `text` is its content. */
  readonly read: (path: string, text: string) => Promise<unknown>;
}

const run: Run = {
  model: 'ab'.repeat(32),
  seed: '42',
  stream: '0',
  normalStream,
  firstRow: '1000000',
  rows: 100,
  columns: 2,
  names: ['a', 'b'],
  dtype: 'float32',
  format: 'npy',
  rowsPerBlock: 1024,
};

async function kindOf(kind: JsonKind, path: string): Promise<Kind> {
  if (kind === 'model') {
    const device = openDevice('reference');
    return {
      seeds: [
        { covarium: 1, mean: [0.5], covariance: [[2]] },
        {
          covarium: 1,
          dtype: 'float64',
          columns: ['a', 'b'],
          mean: [1, -2.5e-7],
          covariance: [
            [2, 0.5],
            [0.5, 1],
          ],
        },
      ],
      read: async (_, text) => {
        const model = await readModel(path);
        (await MultivariateNormal.fromJSON(model, { device })).close();
        const { dtype, ...rest } = model;
        return 'dtype' in JSON.parse(text) ? model : rest;
      },
    };
  }
  if (kind === 'partial') {
    const moments = new Moments(2);
    await moments.add([
      [1, 2],
      [3, 5],
      [8, 13],
    ]);
    const rows = { moments, names: ['a', 'b'], dropped: 1 };
    const shards = { count: 3, here: [1, 3], of: 'cd'.repeat(32) };
    const seeds = [partialText(rows, shards), partialText({ ...rows, names: undefined }, undefined)];
    return {
      seeds: seeds.map((text) => JSON.parse(text)),
      read: async () => {
        const partial = await readPartial(path);
        partial.rows.moments.mean.toArray();
        return JSON.parse(partialText(partial.rows, partial.shards));
      },
    };
  }
  if (kind === 'manifest') {
    const device = { kind: 'cpu', name: 'a processor', facts: { kernels: 'avx2' } } as const;
    const provenance = { covariumVersion: '0.1.0', device, factor: 'cpu' };
    const text = manifestText('draws.npy', run, provenance, { bytes: 928, sha256: 'ef'.repeat(32) });
    return { seeds: [JSON.parse(text)], read: () => readManifest(path.replace(/\.json$/, '')) };
  }
  if (kind === 'run')
    return { seeds: [{ covarium: 1, kind: 'run', run, rowsPerPart: 4096 }], read: () => readRunFile(path) };
  return { seeds: [JSON.parse(JSON.stringify(results()))], read: async (_, text) => parseResults(text, path) };
}

/** Changes files of a kind, each by the dice that it is given. */
export async function jsonTrials(kind: JsonKind, folder: string): Promise<(dice: Dice) => Promise<Trial>> {
  const path = join(folder, `changed.${kind}.json`);
  const { seeds, read } = await kindOf(kind, path);
  return async (dice) => {
    const seed = dice.of(seeds);
    const { text, what, isRefused } = dice.below(3) === 0 ? changedText(seed, dice) : changedValue(seed, dice);
    const runIt = async () => {
      writeFileSync(path, text);
      const found = await read(path, text);
      if (isRefused) return 'is read';
      return isDeepStrictEqual(plain(found), plain(JSON.parse(text))) ? undefined : 'is read as something else';
    };
    return { name: `${kind} ${seeds.indexOf(seed)}`, what, run: runIt };
  };
}

// As JSON writes it, so that -0 is 0, and without fields that may be left out.
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

interface Change {
  readonly text: string;
  readonly what: string;
  readonly isRefused: boolean;
}

const words = ['{', '}', '[', ']', ',', ':', '"', '\\', '\\u0000', 'null', 'true', '1e400', '-', '.', 'NaN', '\0', ' '];

/** Changes, adds or removes bytes of the text. */
function changedText(seed: object, dice: Dice): Change {
  const sound = JSON.stringify(seed, undefined, dice.below(2));
  const at = dice.below(sound.length);
  const length = 1 + dice.below(6);
  const [head, tail] = [sound.slice(0, at), sound.slice(at)];
  const kind = dice.of(['word', 'other word', 'cut', 'repeat', 'end', 'digit'] as const);
  const word = dice.of(words);
  const text = {
    word: head + word + tail,
    'other word': head + word + tail.slice(word.length),
    cut: head + tail.slice(length),
    repeat: head + tail.slice(0, 8 * length) + tail,
    end: head,
    digit: head + dice.below(10) + tail.slice(1),
  }[kind];
  return { text, what: `${kind} at ${at}`, isRefused: false };
}

/** Text that is written unchanged in place of a value. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Json = null | boolean | number | string | Raw | Json[] | { [key: string]: Json };

const deep = 5_000;
const oddTexts = ['null', 'true', '-1', '0', '0.5', '1e308', '-1e308', '5e-324', '1e999', '9007199254740993', '-0'];
const odd = [
  ...oddTexts,
  ...['""', '"x"', '"float64"', '"\\ud800"', '[]', '{}', '[[]]', '[null]', '{"length":2}', '{"__proto__":1}'],
  '['.repeat(deep) + ']'.repeat(deep),
  '{"a":'.repeat(deep) + '0' + '}'.repeat(deep),
  `"${'x'.repeat(100_000)}"`,
  `[${'0,'.repeat(20_000)}0]`,
];

// Objects with arbitrary keys.
const free = /\.(facts|environment)$/;

/** Changes a value, or repeats, removes or adds a field or an entry. */
function changedValue(seed: object, dice: Dice): Change {
  const root: Json = structuredClone(seed) as Json;
  const places: { readonly holder: Json[] | { [key: string]: Json }; readonly key: string; readonly path: string }[] =
    [];
  const collect = (holder: Json, path: string): void => {
    if (typeof holder !== 'object' || holder === null || holder instanceof Raw) return;
    for (const [key, value] of Object.entries(holder)) {
      places.push({ holder, key, path: `${path}.${key}` });
      collect(value, `${path}.${key}`);
    }
  };
  collect(root, '');
  const { holder, key, path } = dice.of(places);
  const parent = path.slice(0, path.lastIndexOf('.'));
  const fields = holder as { [key: string]: Json };
  const value = fields[key]!;
  const isList = Array.isArray(holder);
  const kind = dice.of(['other', 'other', 'other', 'near', 'near', 'less', 'unknown', 'twice'] as const);
  let isRefused = false;
  if (kind === 'other' || (kind === 'near' && typeof value !== 'number')) fields[key] = new Raw(dice.of(odd));
  else if (kind === 'near')
    fields[key] = dice.of([
      Number(value) + 1,
      Number(value) - 1,
      2 * Number(value),
      -value,
      Number(value) * (1 + 2 ** -20),
    ]);
  else if (isList) {
    if (kind === 'less') holder.splice(Number(key), 1);
    else holder.splice(Number(key), 0, value);
  } else if (kind === 'less') delete fields[key];
  else if (kind === 'unknown') {
    const name = dice.of(['extra', `${key} `, key.toUpperCase(), '', 'constructor', '__proto__', 'toString']);
    isRefused = name !== key && !free.test(parent);
    Object.defineProperty(fields, name, { value: dice.of([1, value]), enumerable: true });
  } else {
    isRefused = true;
    const text = textOf(root);
    const again = `${JSON.stringify(key)}:${textOf(value)}`;
    const place = `${path}: ${kind}`;
    // Written into the holder's text, so that the key is there a second time.
    const repeated = textOf(root, (each, whole) => (each === holder ? whole.replace(/\}$/, `,${again}}`) : whole));
    if (repeated !== text) return { text: repeated, what: place, isRefused };
  }
  return { text: textOf(root), what: `${path}: ${kind}`, isRefused };
}

function textOf(value: Json, edit: (value: Json, text: string) => string = (_, text) => text): string {
  if (value instanceof Raw) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = Array.isArray(value)
    ? `[${value.map((each) => textOf(each, edit)).join(',')}]`
    : `{${Object.entries(value)
        .map(([key, each]) => `${JSON.stringify(key)}:${textOf(each, edit)}`)
        .join(',')}}`;
  return edit(value, inner);
}
