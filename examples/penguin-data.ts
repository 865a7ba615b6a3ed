import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** What is measured of each penguin. */
export const penguinColumns = ['Beak Length (mm)', 'Beak Depth (mm)', 'Flipper Length (mm)', 'Body Mass (g)'] as const;

/** Penguins of the Palmer archipelago. */
interface Penguins {
  /** One for each penguin of whom all four are known. */
  readonly rows: readonly (readonly number[])[];
  readonly species: readonly string[];
}

/** Gorman, Williams and Fraser 2014, as vega-datasets carries them. */
export function penguins(): Penguins {
  const packaged = createRequire(import.meta.url).resolve('vega-datasets');
  const text = readFileSync(new URL('../data/penguins.json', `file://${packaged}`), 'utf8');
  const all: Record<string, number | string | null>[] = JSON.parse(text);
  const whole = all.filter((penguin) => penguinColumns.every((column) => typeof penguin[column] === 'number'));
  return {
    rows: whole.map((penguin) => penguinColumns.map((column) => Number(penguin[column]))),
    species: whole.map(({ Species }) => String(Species)),
  };
}
