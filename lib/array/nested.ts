import type { Values } from '../dtype.ts';

/** Rows of so many columns as arrays of numbers. */
export function nestedRows(values: Values, rows: number, columns: number): number[][] {
  // Copies of an array of fractions keep their numbers unboxed and never grow: that takes a quarter of the time of
  // `push`.
  const fractions: number[] = [];
  for (let column = 0; column < columns; ++column) fractions.push(0.5);
  const list: number[][] = [];
  for (let row = 0, at = 0; row < rows; ++row) {
    const entries = row === rows - 1 ? fractions : fractions.slice();
    for (let column = 0; column < columns; ++column) entries[column] = values[at++]!;
    list.push(entries);
  }
  return list;
}
