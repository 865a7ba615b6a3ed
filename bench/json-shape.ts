// Shapes of JSON values, written by hand: each gives the value as its type, or refuses it with the path of the field.
import { describe } from '../lib/check.ts';

/** A field that is not what it should be; the message begins with its path. */
export class WrongField extends Error {
  /** `what` continues the sentence after the path: `is not a number (null)`. */
  constructor(path: string, what: string) {
    super(`${path} ${what}`);
  }
}

/** Gives `value` as a T; throws {@link WrongField}. The path of the outermost value is ''. */
export type Shape<T> = (value: unknown, path: string) => T;

/** Refuses what does not pass `holds`; `kind` is what it should be, with its article. */
function where<T>(kind: string, holds: (value: unknown) => boolean): Shape<T> {
  return (value, path) => {
    if (!holds(value)) throw new WrongField(path || 'The whole', `is not ${kind} (${describe(value)})`);
    return value as T;
  };
}

export const text: Shape<string> = where('a string', (value) => typeof value === 'string');

export const name: Shape<string> = where('a name', (value) => typeof value === 'string' && value !== '');

export const truth: Shape<boolean> = where('true or false', (value) => typeof value === 'boolean');

/** JSON writes NaN and Infinity as null, and reads 1e999 as Infinity: neither is a number here. */
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** A finite number, 0 or more. */
export const amount: Shape<number> = (value, path) => {
  if (!isNumber(value)) throw new WrongField(path, `is not a number (${describe(value)})`);
  if (value < 0) throw new WrongField(path, `is negative (${value})`);
  return value;
};

export const positiveWhole: Shape<number> = where(
  'a whole number from 1',
  (value) => Number.isSafeInteger(value) && (value as number) >= 1,
);

const dateForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

export const date: Shape<string> = where(
  'a date in UTC by ISO 8601',
  (value) => typeof value === 'string' && dateForm.test(value) && !Number.isNaN(Date.parse(value)),
);

export function oneOf<const T extends string | number>(...allowed: readonly T[]): Shape<T> {
  return where(`one of (${allowed.map((each) => `${each}` || 'empty').join(', ')})`, (value) =>
    allowed.includes(value as T),
  );
}

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return (value, path) => (value === null ? null : shape(value, path));
}

/** Undefined where the field is not there. */
export function orAbsent<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, path) => (value === undefined ? undefined : shape(value, path));
}

export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  const list = where<unknown[]>('an array', Array.isArray);
  return (value, path) => list(value, path).map((entry, i) => shape(entry, `${path}[${i}]`));
}

const plain = where<Record<string, unknown>>(
  'an object',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** An object whose keys are data. */
export function recordOf<T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value, path) =>
    Object.fromEntries(
      Object.entries(plain(value, path)).map(([key, entry]) => [key, shape(entry, `${path}[${JSON.stringify(key)}]`)]),
    );
}

/** An object with these fields and no others. */
export function object<T extends object>(fields: { readonly [K in keyof T]-?: Shape<T[K]> }): Shape<T> {
  return (value, path) => {
    const given = plain(value, path);
    const unknown = Object.keys(given).find((key) => !Object.hasOwn(fields, key));
    if (unknown !== undefined)
      throw new WrongField(path === '' ? unknown : `${path}.${unknown}`, 'is not a field that is known');
    const entries = Object.entries<Shape<unknown>>(fields).map(([key, shape]) => [
      key,
      shape(Object.hasOwn(given, key) ? given[key] : undefined, path === '' ? key : `${path}.${key}`),
    ]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as T;
  };
}
