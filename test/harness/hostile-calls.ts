// Hostile calls end alike on cpu and reference: with the same verdict and, if they compute, the same numbers. A
// failing call is reported with its family and number, and is the same in every run. COVARIUM_TEST_ROUNDS=100 makes a
// hundred times as many calls, and COVARIUM_PROPERTY_SEED makes others.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CovariumError, type Device, Matrix, openDevice } from '../../lib/index.ts';
import { kindsHere } from './every-device.ts';
import { propertySeed } from './properties.ts';

const { COVARIUM_TEST_ROUNDS: rounds = '1' } = process.env as NodeJS.ProcessEnv & { COVARIUM_TEST_ROUNDS?: string };
// The first number of a call: 0 for the seed of every test run.
const first = (propertySeed - 1) * 1_000_000;

/** Makes choices from a seed: the same for each device. */
export class Choice {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 2654435761) >>> 0;
  }

  below(count: number): number {
    this.#state = (Math.imul(this.#state, 747796405) + 2891336453) >>> 0;
    return ((this.#state >>> 8) * count) >>> 24;
  }

  of<Value>(...values: readonly Value[]): Value {
    return values[this.below(values.length)]!;
  }

  number(): number {
    return this.of(0, 1, -1, 0.5, 2, 3, 1e-30, 1e30, 7.25, -2.5, 1e-320, 1e308, Number.NaN, Number.POSITIVE_INFINITY);
  }

  tame(): number {
    return (this.below(2001) - 1000) / 250;
  }

  odd(): unknown {
    const promise = Promise.resolve({});
    return this.of<unknown>(
      undefined,
      null,
      '',
      'x',
      {},
      [],
      [[]],
      new Map(),
      promise,
      3n,
      -1n,
      2n ** 64n,
      true,
      () => 0,
    );
  }

  /** Rows of n numbers, mostly sound. */
  rows(n: number, count: number = this.below(4)): unknown {
    if (this.below(12) === 0) return this.odd();
    const wild = this.below(6) === 0;
    const width = this.below(15) === 0 ? n + 1 : n;
    const row = () => Array.from({ length: width }, () => (wild ? this.number() : this.tame()));
    const rows = Array.from({ length: count }, row);
    const kind = this.below(4);
    if (kind === 0 && count > 0) return Matrix.from(rows, { dtype: this.of('float32', 'float64', 'int32') });
    if (kind === 1) return this.below(2) === 0 ? Float32Array.from(rows.flat()) : Float64Array.from(rows.flat());
    return rows;
  }

  covariance(n: number): unknown {
    if (this.below(4) === 0) return this.rows(n, n);
    const roots = Array.from({ length: n }, () => Array.from({ length: n }, () => this.tame()));
    const scale = this.of(1, 1, 1, 1e-10, 1e10, 1e-30, 1e30);
    return roots.map((a, i) =>
      roots.map((b, j) => scale * (a.reduce((sum, v, k) => sum + v * b[k]!, 0) + (i === j ? 1 : 0))),
    );
  }

  options(names: readonly string[]): object {
    if (this.below(20) === 0) return this.odd() as object;
    const chosen = names.filter(() => this.below(2) === 0);
    const value = () => this.of<unknown>(0, 1, 5, 2 ** 40, 2n ** 63n, this.odd(), this.number());
    return Object.fromEntries(chosen.map((name) => [name, value()]));
  }
}

/** An error that a hostile value throws itself; a call passes it on unchanged. */
export class OwnError extends Error {}

/** What a call computes, as numbers. */
export type Call<Chosen extends Choice = Choice> = (device: Device, choice: Chosen) => Promise<ArrayLike<unknown>>;

// A revoked proxy throws on every use.
function isOwn(error: unknown): boolean {
  return error instanceof OwnError || /proxy that has been revoked/.test((error as Error | undefined)?.message ?? '');
}

/** How a call ended: its code, or what it threw that is not a CovariumError. */
interface Verdict {
  readonly code: string;
  readonly message: string;
  readonly values: readonly number[];
  readonly isDefect: boolean;
}

async function verdict<Chosen extends Choice>(call: Call<Chosen>, device: Device, choice: Chosen): Promise<Verdict> {
  try {
    const result = await call(device, choice);
    const values = Array.from(result, (value) => (typeof value === 'number' ? value : 0));
    return { code: 'computed', message: '', values, isDefect: false };
  } catch (error) {
    const { message, stack, cause } = (error ?? {}) as Error;
    const ended = (code: string, isDefect: boolean) => ({ code, message, values: [], isDefect });
    if (isOwn(error) || isOwn(cause)) return ended('its own error', false);
    if (error instanceof CovariumError) return ended(error.code, error.code === 'ERR_INTERNAL');
    return ended(`${stack ?? error}`.split('\n').slice(0, 4).join(' '), true);
  }
}

function areNear(x: number, y: number): boolean {
  return Object.is(x, y) || x === y || Math.abs(x - y) <= 1e-3 * Math.max(1e-3, Math.abs(x), Math.abs(y));
}

/** A test of each family of `each` calls and more rounds of them; `chooser` makes the choices of a call. */
export function endAlike<Chosen extends Choice>(
  each: number,
  families: { readonly [family: string]: Call<Chosen> },
  chooser: (seed: number) => Chosen,
): void {
  const calls = each * Number(rounds);
  if (!['cpu', 'reference'].every((kind) => kindsHere.includes(kind as 'cpu'))) {
    console.log('skipped  hostile calls: they compare cpu and reference, and one of them is not here');
    test.skip('Hostile calls end alike on cpu and reference.');
    return;
  }
  for (const [family, call] of Object.entries(families))
    test(`${calls} hostile calls of ${family} end alike on cpu and reference.`, async () => {
      using cpu = openDevice('cpu', { threads: 2 });
      using reference = openDevice('reference');
      const codes = new Set<string>();
      const defects: string[] = [];
      for (let seed = first; seed < first + calls; seed++) {
        const ours = await verdict(call, cpu, chooser(seed));
        const theirs = await verdict(call, reference, chooser(seed));
        const at = ours.values.findIndex((value, i) => !areNear(value, theirs.values[i]!));
        if (ours.isDefect || theirs.isDefect || ours.code !== theirs.code)
          defects.push(`call (${seed}): ${told(ours)} on cpu, ${told(theirs)} on reference`);
        else if (at >= 0)
          defects.push(`call (${seed}), number (${at}): ${ours.values[at]} on cpu, ${theirs.values[at]} on reference`);
        codes.add(ours.code);
      }
      assert.is(defects.length, 0, `${defects.length} calls:\n${defects.slice(0, 20).join('\n')}`);
      assert.ok(codes.has('computed') && codes.size > 1, `(${[...codes].join(', ')})`);
    });
}

const told = ({ code, message }: Verdict) => (code === 'computed' ? code : `${code} ${message}`);
