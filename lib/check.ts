import type { inspect as nodeInspect } from 'node:util';
import { CovariumError, type ErrorFields, isError } from './covarium-error.ts';

// Marks options that a call has passed on without their signal.
const takesSignal = Symbol('takes a signal');

/**
 * Throws `ERR_UNKNOWN_OPTION` at the first option that is not `known`, `ERR_INVALID_ARGUMENT` if `options` is not an
 * object. The message lists `signal` too if the options are from {@link withoutSignal}; `argument` is what the call
 * names the object, and `handled` names options of the call that another function takes out of it.
 */
export function checkOptions(
  options: object,
  known: readonly string[],
  argument = 'options',
  handled: readonly string[] = [],
): void {
  const signal = () => (isOptions(options) && takesSignal in options ? ['signal'] : []);
  const names = () => [...known, ...handled, ...signal()].join(', ');
  if (!isOptions(options))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`${argument}\` is not a plain object (${quoted(options)}).${hintAt(options)} Pass one object with some of (${names()}).`,
    );
  // What somebody has added to the prototype of all objects is not an option of this call.
  for (const name in options)
    if (!known.includes(name) && (Object.hasOwn(options, name) || !(name in Object.prototype)))
      throw new CovariumError(
        'ERR_UNKNOWN_OPTION',
        `Option (${describe(name)}) is ${names() === '' ? 'unknown: this call takes none' : `not one of (${names()})`}.`,
      );
}

/** The options but the signal, which the caller obeys. What is not an object stays as it is, for the work to refuse. */
export function withoutSignal<Options extends object>(options: Options & AbortOptions): Options {
  if (!isOptions(options)) return options;
  const rest: Record<PropertyKey, unknown> = { [takesSignal]: true };
  for (const name in options) if (name !== 'signal') rest[name] = (options as Record<string, unknown>)[name];
  return rest as Options;
}

// An instance of our classes, which have tags, stands where a call with positional arguments would have it.
function isOptions(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}

/**
 * Returns `value` if it is a whole number in [minimum, maximum]; throws `ERR_OUT_OF_RANGE`, or `ERR_INVALID_ARGUMENT`
 * if it is not a number.
 */
export function wholeNumber(
  name: string,
  value: unknown,
  minimum = 0,
  maximum: number = Number.MAX_SAFE_INTEGER,
): number {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  if (typeof value !== 'number') throw wrongArgument(name, value, `a whole number ${range}`);
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  // Most callers need not know the bound.
  const isBeyond = Number.isInteger(value) && value > maximum && maximum === Number.MAX_SAFE_INTEGER;
  const said = isBeyond ? `from ${minimum} to 2^53 - 1` : range;
  throw new CovariumError('ERR_OUT_OF_RANGE', `${marked(name)} is (${value}), not a whole number ${said}.`);
}

/** A whole number that counts from the end below 0, counted from the start. Throws like {@link wholeNumber}. */
export function fromStart(name: string, index: number, length: number): number {
  const at = wholeNumber(name, index, -length, length - 1);
  return at < 0 ? at + length : at;
}

/** Returns `value` if it is one of `allowed`; throws `ERR_INVALID_ARGUMENT`. */
export function oneOf<Value extends string>(name: string, value: unknown, allowed: readonly Value[]): Value {
  if (allowed.includes(value as Value)) return value as Value;
  throw wrongArgument(name, value, `one of (${allowed.join(', ')})`);
}

/**
 * `value`, or `otherwise` if an option is not given. A null is given: it is checked, and refused, as `??` would not.
 */
export function orElse<Value>(value: Value | undefined, otherwise: Value): Value {
  return value === undefined ? otherwise : value;
}

/** Returns `value` if it is true or false; throws `ERR_INVALID_ARGUMENT`. */
export function requireBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw wrongArgument(name, value, 'true or false');
}

/** Whether numbers [from, to) times `factor` are finite, in a third of the time that a look at each takes. */
export function areFinite(values: Float32Array | Float64Array, from: number, to: number, factor = 1): boolean {
  // A finite number times zero is zero; NaN and the infinities give NaN. There are four sums, because each addition of
  // a single one would wait for that before it. Declared in one pattern, V8 would make an object of each number.
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let at = from;
  for (; at + 4 <= to; at += 4) {
    a += values[at]! * factor * 0;
    b += values[at + 1]! * factor * 0;
    c += values[at + 2]! * factor * 0;
    d += values[at + 3]! * factor * 0;
  }
  for (; at < to; at++) a += values[at]! * factor * 0;
  return a + b + c + d === 0;
}

const finiteAtOnce = 4096;

/** Where the first number that is not finite lies; their count if there is none. */
export function firstNotFinite(values: ArrayLike<number>): number {
  let at = 0;
  if (values instanceof Float32Array || values instanceof Float64Array)
    while (at < values.length && areFinite(values, at, Math.min(at + finiteAtOnce, values.length)))
      at = Math.min(at + finiteAtOnce, values.length);
  while (at < values.length && Number.isFinite(values[at])) at += 1;
  return at;
}

/**
 * Throws `ERR_NOT_FINITE` at the first entry that is not finite, with its row and column. Without `columns` the values
 * are a vector, otherwise a matrix with that many columns, from its number `first` on. A device has no name for them.
 */
export function requireFiniteEntries(
  name: string | undefined,
  values: ArrayLike<number>,
  columns?: number,
  first = 0,
): void {
  const found = firstNotFinite(values);
  if (found === values.length) return;
  const at = first + found;
  const row = columns === undefined ? 0 : Math.floor(at / columns);
  const column = columns === undefined ? at : at % columns;
  const place = columns === undefined ? `${at}` : `${row}, ${column}`;
  throw notFinite(name, place, values[found]!, { row, column });
}

/** An entry at `place` that is not finite, as an error. */
export function notFinite(name: string | undefined, place: string, value: number, fields: ErrorFields): CovariumError {
  return new CovariumError(
    'ERR_NOT_FINITE',
    `${name === undefined ? 'Entry' : `${marked(name)} entry`} (${place}) is (${value}), not a finite number.`,
    fields,
  );
}

/** A class that static methods make, called with `new`, as an error. */
export function noConstructor(name: string, call: string): CovariumError {
  return new CovariumError('ERR_INVALID_ARGUMENT', `${name} can't be made with (new): call ${call}.`);
}

const copyKey = Symbol.for('covarium.copy');
// Of this copy of the package alone: package managers may install two, and test runners load it anew.
const thisCopy = Symbol('copy');

/** What to say of a promise that stands where its value should, and of an object of another copy of this package. */
function hintAt(value: unknown): string {
  return quietly('', () => {
    if (Object.prototype.toString.call(value) === '[object Promise]') return ' Await it.';
    const isObject = typeof value === 'object' && value !== null;
    if (!isObject || !(copyKey in value) || value[copyKey] === thisCopy) return '';
    return ' It is of another copy of the package covarium, which this program has loaded too.';
  });
}

/**
 * A value that is missing, or of a kind that an argument does not take, as an error: `name` is the argument as the
 * caller wrote it, `help` what to pass.
 */
export function wrongArgument(name: string, value: unknown, help: string): CovariumError {
  const is = value === undefined ? 'is missing (undefined)' : `is (${quoted(value)})`;
  return new CovariumError('ERR_INVALID_ARGUMENT', `${marked(name)} ${is}.${hintAt(value)} Pass ${help}.`);
}

// Methods that give plain arrays or rows: of ml-matrix, TensorFlow.js, mathjs and apache-arrow, DuckDB, Polars.
const plainMethods = ['to2DArray', 'arraySync', 'toArray', 'getColumnsObject', 'toRecords'] as const;

/**
 * Like {@link wrongArgument}, for numbers: the error names the method of another library's object that gives them. Its
 * class may be called Matrix or Vector too.
 */
export function wrongNumbers(name: string, value: unknown, help: string): CovariumError {
  const method = quietly(undefined, () => {
    const isOther = typeof value === 'object' && value !== null && !(copyKey in value);
    const other = (isOther ? value : {}) as { readonly [method: string]: unknown };
    return plainMethods.find((each) => typeof other[each] === 'function');
  });
  return wrongArgument(name, value, method === undefined ? help : `what its ${method}() returns, or ${help}`);
}

// The words of messages for arguments that are called otherwise.
const argumentNames: { readonly [words: string]: string } = {
  Data: 'rows',
  Input: 'rows',
  Eigenvalues: 'values',
  Eigenvectors: 'vectors',
  'Lower limits': 'lower',
  'Upper limits': 'upper',
};

/** An argument's name in camel case, of the words that a message has for it. */
export function argumentOf(words: string): string {
  const named = argumentNames[words] ?? words.replaceAll('`', '');
  return `${named[0]!.toLowerCase()}${named.slice(1).replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

/**
 * An argument as messages name it: in code marks, as the caller wrote it. What is not such a name, as an option of the
 * command line or a variable of the environment, stays as it is.
 */
export function marked(words: string): string {
  return /^[A-Za-z][a-z][A-Za-z ]*$/.test(words) ? `\`${argumentOf(words)}\`` : words;
}

/**
 * An error in the words of the caller: what a device calls a matrix, or its entry, and `Matrix.from` its `values`, is
 * the argument's.
 */
export function about(words: string, error: CovariumError): CovariumError {
  const name = marked(words);
  const message = error.message
    .replace(/^(Entry|Row|Column) (?=\()/, (_, word: string) => `${name} ${word.toLowerCase()} `)
    .replace(/^(Matrix|Memory) (?=is |belongs )/, `${name} `)
    .replace(/^`values(.*?)`/, (_, field: string) => (name.endsWith('`') ? `${name.slice(0, -1)}${field}\`` : name))
    .replace(/^Memory asked for/, `Memory asked for by ${name}`)
    .replace(/^Cannot allocate \(\d+\) numbers/, `$& for ${name}`);
  if (message === error.message) return error;
  const { matrix, pivot, row, column } = error;
  const fields = Object.entries({ matrix, pivot, row, column }).filter(([, value]) => value !== undefined);
  return new CovariumError(error.code, message, { ...Object.fromEntries(fields), cause: error });
}

/** Runs `work`; what it throws names the argument, as {@link about} says. */
export function named<Result>(words: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof CovariumError ? about(words, error) : error;
  }
}

/** A value like {@link describe}, a string in quotes: where a string stands for a number, they tell the two apart. */
export function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${describe(value)}'` : describe(value);
}

/** The entries of an array like {@link quoted}, with commas between them. */
export function listed(values: ArrayLike<unknown>): string {
  return Array.from(values, quoted).join(', ');
}

/** A value as messages show it: always short; numbers and short strings in full. */
export function describe(value: unknown): string {
  return quietly(typeof value, () => words(value));
}

/** What `work` finds out about a value for a message; `otherwise` if the value's own getter or proxy throws. */
function quietly<Result>(otherwise: Result, work: () => Result): Result {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

function words(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `${value.slice(0, 57)}...` : value;
  if (typeof value === 'symbol') return value.toString();
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `function ${typeof value.name === 'string' ? describe(value.name) : ''}`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `array of ${value.length}`;
  const named: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  // A generator inherits an empty name.
  const known = named === '' ? Object.prototype.toString.call(value).slice('[object '.length, -1) : named;
  const name = typeof known === 'string' ? describe(known) : 'object';
  return ArrayBuffer.isView(value) && 'length' in value ? `${name} of ${value.length}` : name;
}

/** The option of every asynchronous call that may take long. */
export interface AbortOptions {
  /**
   * Stops the work: soon after the signal aborts, the promise rejects with `ERR_ABORTED` (a sample at the next block of
   * rows). A file that was to be replaced stays as it was.
   */
  readonly signal?: AbortSignal | undefined;
}

export function aborted({ reason }: AbortSignal): CovariumError {
  const why = describe(isError(reason) ? reason.message : reason);
  return new CovariumError('ERR_ABORTED', `Signal aborts the work (${why}).`, { cause: reason });
}

/**
 * Throws `ERR_ABORTED` if `signal` is aborted, with the signal's reason as its cause; `ERR_INVALID_ARGUMENT` if it is
 * not a signal.
 */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  const isSignal =
    Object.prototype.toString.call(signal) === '[object AbortSignal]' && typeof signal.addEventListener === 'function';
  if (!isSignal)
    throw wrongArgument(
      'signal',
      signal,
      'an AbortSignal, as AbortSignal.timeout(1000) or new AbortController().signal',
    );
  if (signal.aborted) throw aborted(signal);
}

const waiting = new WeakMap<AbortSignal, { readonly works: Set<() => void>; readonly listener: () => void }>();

/**
 * Calls `work` when `signal` aborts, until the returned function is called. We add one listener to a signal, however
 * many calls wait for it, because Node warns of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal | undefined, work: () => void): () => void {
  if (signal === undefined) return () => {};
  let all = waiting.get(signal);
  if (all === undefined) {
    const works = new Set<() => void>();
    const listener = () => {
      for (const each of [...works]) each();
    };
    all = { works, listener };
    waiting.set(signal, all);
    signal.addEventListener('abort', listener, { once: true });
  }
  const { works, listener } = all;
  // A new function each time, because the same work may wait twice.
  const own = () => work();
  works.add(own);
  return () => {
    if (!works.delete(own) || works.size > 0) return;
    signal.removeEventListener('abort', listener);
    waiting.delete(signal);
  };
}

/** The result, or `ERR_ABORTED` once `signal` aborts: a stream, a pipe, a server or an iterable may never answer. */
export async function unlessAborted<Result>(signal: AbortSignal | undefined, result: Promise<Result>): Promise<Result> {
  if (signal === undefined) return result;
  let stop = () => {};
  const abort = new Promise<never>((_, reject) => {
    stop = onAbort(signal, () => reject(aborted(signal)));
  });
  return Promise.race([result, abort]).finally(stop);
}

/**
 * Has console.log show the own fields of a class's objects, with a device by its kind, and without the field that
 * refuses structuredClone.
 */
export function inspectFields(prototype: object, name: string): void {
  nameClass(prototype, name);
  Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), {
    value(this: { readonly closed?: boolean }, depth: number, options: object, inspect: typeof nodeInspect): string {
      if (depth < 0) return `[${name}]`;
      const { cloning: _, device, ...fields } = this as { cloning?: symbol; device?: { readonly kind: string } };
      const shown = { ...(device && { device: device.kind }), ...fields, ...(this.closed && { closed: true }) };
      return `${name} ${inspect(shown, options)}`;
    },
  });
}

/** Gives a class the name that it is exported by, which a bundler may have changed, also as the tag of its objects. */
export function nameClass(prototype: object, name: string): void {
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name });
  Object.defineProperty(prototype, copyKey, { value: thisCopy });
  Object.defineProperty(prototype.constructor, 'name', { value: name });
}

/**
 * The value of a field that structuredClone and postMessage meet and refuse: without one they would make an empty
 * object of what has its numbers in private fields. Their error, DataCloneError, shows the text, of which V8 leaves out
 * the middle beyond some 100 letters. Each object has a symbol of its own, so that a deep comparison never calls two of
 * them equal.
 */
export function notCloneable(name: string, way: string): symbol {
  return Symbol(`${name} can't be cloned: ${way}.`);
}
