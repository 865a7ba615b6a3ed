const step = 512;
const [largest, smallest] = [2 ** (step / 2), 2 ** (-step / 2)];

/** A product whose factors may be of any size: only the whole of it overflows or underflows. */
export class ScaledProduct {
  #product = 1;
  #exponent = 0;

  multiply(factor: number): void {
    this.#product = this.#near1(this.#near1(this.#product) * this.#near1(factor));
  }

  get value(): number {
    // A step at a time, and the last one rounds.
    let value = this.#product;
    let left = this.#exponent;
    for (; left >= step && Number.isFinite(value); left -= step) value *= 2 ** step;
    for (; left <= -step && value !== 0; left += step) value *= 2 ** -step;
    return value;
  }

  /** 1, 0 or -1. */
  get sign(): number {
    return Math.sign(this.#product) + 0; // not -0
  }

  /** The natural logarithm of the absolute value. */
  get logarithm(): number {
    return Math.log(Math.abs(this.#product)) + this.#exponent * Math.LN2;
  }

  // Between 2^-256 and 2^256, or 0, infinite or a NaN: of subnormal numbers in two steps.
  #near1(given: number): number {
    let value = given;
    while (Math.abs(value) >= largest && Number.isFinite(value)) {
      value *= 2 ** -step;
      this.#exponent += step;
    }
    while (Math.abs(value) < smallest && value !== 0) {
      value *= 2 ** step;
      this.#exponent -= step;
    }
    return value;
  }
}
