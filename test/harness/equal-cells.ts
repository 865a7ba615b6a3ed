import { normalQuantile } from './normal-cdf.ts';

const cellsPerUnit = 2 ** 15;
const reach = 8;

/** Cells of the line that a standard normal hits equally often: a draw's cell is floor(count Phi(z)). */
export class EqualCells {
  readonly count: number;
  // Upper edges; and for each interval of a fine grid over [-8, 8) the cell of its lower end, where the search
  // begins.
  readonly #edges: Float64Array;
  readonly #starts: Uint16Array;

  /** `count` is even and at most 65,536. */
  constructor(count: number) {
    this.count = count;
    this.#edges = new Float64Array(count);
    const half = count / 2;
    for (let i = 0; i < half - 1; i++) {
      this.#edges[i] = normalQuantile((i + 1) / count);
      this.#edges[count - 2 - i] = -this.#edges[i]!;
    }
    this.#edges[half - 1] = 0;
    this.#edges[count - 1] = Number.POSITIVE_INFINITY;
    this.#starts = new Uint16Array(2 * reach * cellsPerUnit);
    let cell = 0;
    for (let i = 0; i < this.#starts.length; i++) {
      while (i / cellsPerUnit - reach >= this.#edges[cell]!) cell++;
      this.#starts[i] = cell;
    }
  }

  /** The cell of z. */
  of(z: number): number {
    if (z < -reach) return 0;
    if (z >= reach) return this.count - 1;
    let cell = this.#starts[((z + reach) * cellsPerUnit) | 0]!;
    while (z >= this.#edges[cell]!) cell++;
    return cell;
  }
}
