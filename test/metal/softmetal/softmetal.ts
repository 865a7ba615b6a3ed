import { createRequire } from 'node:module';
import { join } from 'node:path';

interface Hooks {
  ledger(path: string): Record<string, number>;
  counters(path: string): Record<string, number>;
  reset(path: string): void;
  set(path: string, name: string, value: string): void;
  owns(path: string, array: NodeJS.TypedArray): boolean;
}

/** The hooks of one covarium.node with software Metal inside, which must be loaded when they are called. */
export class SoftMetal {
  readonly #hooks: Hooks;
  readonly #path: string;

  /** `build` is what `softAddon()` gives. */
  constructor(build: { readonly folder: string; readonly path: string }) {
    this.#hooks = createRequire(import.meta.url)(join(build.folder, 'softmetal.node'));
    this.#path = build.path;
  }

  /** Living objects by Apple's class name, after all committed work has run; `{}` after the last release. */
  ledger(): Readonly<Record<string, number>> {
    return this.#hooks.ledger(this.#path);
  }

  /**
   * What has happened since the last reset, by name: `commits`, `waits`, `completedHandlers`, `encoders`, `libraries`,
   * `builtLibraries`, `fastMathLibraries`, `passesSideBySide`, `pipelines`, `pipelines fill_normal`, `buffers`,
   * `largestAllocation`, `dispatches`, `dispatches fill_normal`, `blitCopies`, `blitFills`, `captures`; `MPSMatrixSum`
   * and `MPSMatrixSum 2 1x4 N` for objects made, `encoded MPSMatrixSum` for runs; `statusReads`;
   * `most living MTLCommandBuffer`, how many of a class lived at once. An absent name means 0 times.
   */
  counters(): Readonly<Record<string, number>> {
    return this.#hooks.counters(this.#path);
  }

  /** One counter. */
  count(name: string): number {
    return this.counters()[name] ?? 0;
  }

  /** Resets counters to zero, and settings to their values in the environment when the addon was loaded. */
  reset(): void {
    this.#hooks.reset(this.#path);
  }

  /** Changes a setting of settings.cc; an unknown name throws. */
  set(name: string, value: string | number): void {
    this.#hooks.set(this.#path, name, String(value));
  }

  /** True if the array's first byte lies in a living MTLBuffer. */
  owns(array: NodeJS.TypedArray): boolean {
    return this.#hooks.owns(this.#path, array);
  }
}
