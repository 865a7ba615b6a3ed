/** Draws an index with given probabilities from one uniform number (Walker 1977; Vose 1991). */
export class AliasTable {
  readonly #threshold: Float64Array;
  readonly #alias: Int32Array;

  /** Takes probabilities with sum 1. */
  constructor(probabilities: Float64Array) {
    const size = probabilities.length;
    const scaled = probabilities.map((probability) => probability * size);
    this.#threshold = new Float64Array(size).fill(1);
    this.#alias = Int32Array.from(scaled, (_, k) => k);
    const small: number[] = [];
    const large: number[] = [];
    for (const [k, value] of scaled.entries()) (value < 1 ? small : large).push(k);
    while (small.length > 0 && large.length > 0) {
      const [less, more] = [small.pop()!, large.pop()!];
      this.#threshold[less] = scaled[less]!;
      this.#alias[less] = more;
      scaled[more]! -= 1 - scaled[less]!;
      (scaled[more]! < 1 ? small : large).push(more);
    }
  }

  /** The index of a uniform number from 0 to 1. */
  at(uniform: number): number {
    const size = this.#threshold.length;
    const place = Math.min(size - 1, Math.floor(uniform * size));
    return uniform * size - place < this.#threshold[place]! ? place : this.#alias[place]!;
  }
}
