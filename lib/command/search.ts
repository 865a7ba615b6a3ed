import type { Encoder } from '../backend.ts';
import type { OpenBackend } from '../backend-handle.ts';
import type { Real, Values } from '../dtype.ts';

// JavaScript looks at fewer numbers sooner than a command is recorded. On a GPU the command is one for the CPU beside
// it, which takes another turn of the queue.
const leastNumbers = { cpu: 1 << 12, cuda: 1 << 16, metal: 1 << 16, reference: Number.POSITIVE_INFINITY };

/** Whether the host has to look for numbers, of those that a commit reads or writes, that lie beyond two limits. */
export class Search {
  #found: Uint32Array | undefined;

  /** Whether the device searches so many numbers. */
  static isOn(device: OpenBackend, values: Values): boolean {
    return values.length >= leastNumbers[device.kind];
  }

  /** Records the search if the device does it, and returns whether. Both limits are exclusive; NaN is never between. */
  record(device: OpenBackend, encoder: Encoder, values: Real, least: number, most: number): boolean {
    if (!Search.isOn(device, values)) return false;
    this.#found = new Uint32Array(1);
    encoder.findBeyond(values, least, most, this.#found);
    return true;
  }

  /** Records the search for numbers that are not finite. */
  recordFinite(device: OpenBackend, encoder: Encoder, values: Real): void {
    this.record(device, encoder, values, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  /** After the commit: whether the device has found such a number. */
  get hasFound(): boolean {
    return this.#found?.[0] === 1;
  }

  /** After the commit: whether it has, or has not searched. */
  get isDue(): boolean {
    return this.#found === undefined || this.hasFound;
  }
}
