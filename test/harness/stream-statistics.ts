import type { Real } from '../../lib/dtype.ts';
import { EqualCells } from './equal-cells.ts';
import { normalCdf } from './normal-cdf.ts';

/** One statistic of the draws, and the probability that independent standard normals deviate as far. */
export interface Check {
  readonly name: string;
  readonly p: number;
}

const powers = [1, 2, 3, 4, 6] as const;
const expectedMoments = [0, 1, 0, 3, 15];
// E z^2k - (E z^k)^2.
const momentVariances = [1, 2, 15, 96, 10170];
const tails = [3, 4, 5, 6] as const;
const lags = [1, 2, 3, 4, 5, 6, 7, 8] as const;
// Pairs of the four lanes of a Philox block.
const pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]] as const; // biome-ignore format: one line
const cells = new EqualCells(2 ** 16);
const coarseBits = 6;

/** Statistics of consecutive draws of the normal stream. The draws come in pieces that start at a block. */
export class StreamStatistics {
  /** The largest magnitude so far. */
  largest = 0;
  #count = 0;
  #pieces = 0;
  // Scratch for a piece, reused for the next one.
  #z = new Float64Array();
  #squares = new Float64Array();
  #cellOf = new Uint16Array();
  readonly #moments = new Float64Array(powers.length);
  readonly #histogram = new Uint32Array(cells.count);
  readonly #beyond = new Uint32Array(2 * tails.length);
  readonly #lagSums = new Float64Array(2 * lags.length);
  readonly #laneSums = new Float64Array(2 * pairs.length);
  readonly #laneTables = pairs.map(() => new Uint32Array(2 ** (2 * coarseBits)));

  /** Adds a piece, whose length is a multiple of four draws. */
  add(draws: Real): void {
    if (this.#z.length !== draws.length) {
      this.#z = new Float64Array(draws.length);
      this.#squares = new Float64Array(draws.length);
      this.#cellOf = new Uint16Array(draws.length);
    }
    const [z, squares, cellOf] = [this.#z, this.#squares, this.#cellOf];
    z.set(draws);
    for (let i = 0; i < z.length; i++) {
      squares[i] = z[i]! * z[i]! - 1;
      cellOf[i] = cells.of(z[i]!);
    }
    this.#count += z.length;
    this.#pieces++;
    this.#addMoments(z);
    for (let i = 0; i < z.length; i++) this.#histogram[cellOf[i]!]!++;
    for (const [at, lag] of lags.entries()) {
      this.#lagSums[2 * at]! += sumOfProducts(z, z.subarray(lag), 1);
      this.#lagSums[2 * at + 1]! += sumOfProducts(squares, squares.subarray(lag), 1);
    }
    for (const [at, [a, b]] of pairs.entries()) {
      this.#laneSums[2 * at]! += sumOfProducts(z.subarray(a), z.subarray(b), 4);
      this.#laneSums[2 * at + 1]! += sumOfProducts(squares.subarray(a), squares.subarray(b), 4);
      const table = this.#laneTables[at]!;
      const shift = 16 - coarseBits;
      for (let i = 0; i < z.length; i += 4)
        table[((cellOf[i + a]! >> shift) << coarseBits) | (cellOf[i + b]! >> shift)]!++;
    }
  }

  #addMoments(z: Float64Array): void {
    let [m1, m2, m3, m4, m6] = [0, 0, 0, 0, 0];
    for (let i = 0; i < z.length; i++) {
      const x = z[i]!;
      const x2 = x * x;
      m1 += x;
      m2 += x2;
      m3 += x2 * x;
      m4 += x2 * x2;
      m6 += x2 * x2 * x2;
      if (x2 <= 9) continue;
      this.largest = Math.max(this.largest, Math.abs(x));
      for (const [at, tail] of tails.entries()) if (Math.abs(x) > tail) this.#beyond[2 * at + +(x < 0)]!++;
    }
    for (const [at, sum] of [m1, m2, m3, m4, m6].entries()) this.#moments[at]! += sum;
  }

  /** Every statistic of the draws so far. */
  checks(): Check[] {
    const n = this.#count;
    const found: Check[] = [];
    for (const [at, power] of powers.entries()) {
      const error = this.#moments[at]! / n - expectedMoments[at]!;
      found.push(normalCheck(`moment ${power}`, error / Math.sqrt(momentVariances[at]! / n)));
    }
    found.push({ name: 'chi-squared, 65,536 cells', p: chiSquaredP(this.#histogram, n) });
    found.push({ name: 'Kolmogorov-Smirnov', p: kolmogorovSmirnovP(this.#histogram, n) });
    for (const [at, tail] of tails.entries())
      for (const side of [0, 1])
        found.push({
          name: side === 0 ? `above ${tail}` : `below -${tail}`,
          p: poissonP(this.#beyond[2 * at + side]!, n * normalCdf(-tail)),
        });
    for (const [at, lag] of lags.entries()) {
      const terms = n - this.#pieces * lag;
      found.push(correlationCheck(`lag ${lag}`, this.#lagSums[2 * at]!, terms));
      found.push(correlationCheck(`lag ${lag}, squares`, this.#lagSums[2 * at + 1]! / 2, terms));
    }
    for (const [at, [a, b]] of pairs.entries()) {
      found.push(correlationCheck(`lanes ${a} and ${b}`, this.#laneSums[2 * at]!, n / 4));
      found.push(correlationCheck(`lanes ${a} and ${b}, squares`, this.#laneSums[2 * at + 1]! / 2, n / 4));
      found.push({ name: `lanes ${a} and ${b}, chi-squared`, p: chiSquaredP(this.#laneTables[at]!, n / 4) });
    }
    return found;
  }
}

/** Checks that two runs of draws of the same length, and their squares, are uncorrelated. */
export function correlationChecks(name: string, x: Real, y: Real): Check[] {
  let sum = 0;
  let sumOfSquares = 0;
  for (let i = 0; i < x.length; i++) {
    sum += x[i]! * y[i]!;
    sumOfSquares += (x[i]! * x[i]! - 1) * (y[i]! * y[i]! - 1);
  }
  return [correlationCheck(name, sum, x.length), correlationCheck(`${name}, squares`, sumOfSquares / 2, x.length)];
}

function sumOfProducts(x: Float64Array, y: Float64Array, stride: number): number {
  const length = Math.min(x.length, y.length);
  let sum = 0;
  for (let i = 0; i < length; i += stride) sum += x[i]! * y[i]!;
  return sum;
}

// Both factors of each term have mean 0, and variance 1 once the caller has divided: that of z^2 - 1 is 2.
function correlationCheck(name: string, sum: number, terms: number): Check {
  return normalCheck(name, sum / Math.sqrt(terms));
}

function normalCheck(name: string, deviation: number): Check {
  return { name, p: 2 * normalCdf(-Math.abs(deviation)) };
}

// Equally probable cells; by the cube root of Wilson and Hilferty (1931). Too even is as suspicious as too uneven.
function chiSquaredP(table: Uint32Array, n: number): number {
  const expected = n / table.length;
  let sum = 0;
  for (const found of table) sum += (found - expected) ** 2 / expected;
  const freedom = table.length - 1;
  const spread = 2 / (9 * freedom);
  return normalCheck('', (Math.cbrt(sum / freedom) - (1 - spread)) / Math.sqrt(spread)).p;
}

// The largest difference at the cells' edges: at most one cell, 2^-16, below the largest of all.
function kolmogorovSmirnovP(histogram: Uint32Array, n: number): number {
  let below = 0;
  let largest = 0;
  for (const [cell, found] of histogram.entries()) {
    below += found;
    largest = Math.max(largest, Math.abs(below / n - (cell + 1) / histogram.length));
  }
  return Math.min(1, 2 * Math.exp(-2 * n * largest * largest));
}

function poissonP(found: number, mean: number): number {
  if (mean > 500) return normalCheck('', (found - mean) / Math.sqrt(mean)).p;
  let term = Math.exp(-mean);
  let below = 0;
  for (let k = 0; k < found; term *= mean / ++k) below += term;
  // P(X >= found), P(X <= found).
  return Math.min(1, 2 * Math.min(1 - below, below + term));
}
