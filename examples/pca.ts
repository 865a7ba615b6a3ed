// Principal components of the penguins: the singular values of their standardised measurements, the scores of each
// penguin, and how each measurement loads on them. The picture has the scores, a colour for each species.
import { Matrix } from '../lib/index.ts';
import { askedDevice, exampleOptions } from './example-options.ts';
import { penguinColumns, penguins } from './penguin-data.ts';
import { writePicture } from './picture.ts';
import { tellWithin } from './verdict.ts';

// R's prcomp(scale. = TRUE) over the same penguins.
const deviationsOfR = [1.6594442, 0.8789293, 0.6043475, 0.3293816];

const { device: kind, size } = exampleOptions({ size: 480 });
using device = askedDevice(kind);
const { rows, species } = penguins();
const [count, n] = [rows.length, penguinColumns.length];
const standardised = Matrix.from(standardise(), { dtype: 'float32' });

const { u, s, vt } = await standardised.svd({ device });
const deviations = Array.from(s.data, (value) => value / Math.sqrt(count - 1));
const total = deviations.reduce((sum, deviation) => sum + deviation ** 2, 0);
// A component and its negative are the same: the one is shown whose last measurement, the mass, grows.
const signs = vt.toArray().map((row) => Math.sign(row.at(-1)!));
const scores = u.toArray().map((row) => row.map((entry, k) => signs[k]! * entry * s.get(k)));
const loadings = vt.toArray().map((row, k) => row.map((entry) => signs[k]! * entry));

const shown = (values: readonly number[]) => values.map((value) => value.toFixed(3).padStart(7)).join(' ');
console.log(`deviations            ${shown(deviations)}`);
console.log(`share of the variance ${shown(deviations.map((deviation) => deviation ** 2 / total))}`);
for (const [j, name] of penguinColumns.entries())
  console.log(`${name.padEnd(21)} ${shown(loadings.map((row) => row[j]!))}`);
for (const [k, deviation] of deviations.entries())
  tellWithin(`deviation ${k + 1}, beside R's`, deviation, deviationsOfR[k]!, 1e-5);
const back = await u.multiply(Matrix.from(vt.toArray().map((row, k) => row.map((entry) => entry * s.get(k)))));
const apart = back.data.reduce((most, value, at) => Math.max(most, Math.abs(value - standardised.data[at]!)), 0);
tellWithin('u diag(s) vt, beside the measurements', apart, 0, 1e-4);
drawScores();

/** Each column minus its mean, divided by its standard deviation. */
function standardise(): number[][] {
  const columns = penguinColumns.map((_, j) => rows.map((row) => row[j]!));
  const means = columns.map((column) => column.reduce((sum, value) => sum + value, 0) / count);
  const sizes = columns.map((column, j) =>
    Math.sqrt(column.reduce((sum, value) => sum + (value - means[j]!) ** 2, 0) / (count - 1)),
  );
  return rows.map((row) => row.map((value, j) => (value - means[j]!) / sizes[j]!));
}

/** The first component grows to the right, the second upwards; lines from the middle are the loadings. */
function drawScores(): void {
  const data = new Uint8Array(3 * size * size).fill(255);
  const colours = [
    [224, 122, 47],
    [140, 86, 176],
    [38, 128, 118],
  ] as const;
  const kinds = [...new Set(species)].sort();
  const unit = size / 8; // Scores are from -4 to 4.
  const dot = (x: number, y: number, radius: number, [red, green, blue]: readonly [number, number, number]) => {
    const [column, row] = [Math.round(size / 2 + x * unit), Math.round(size / 2 - y * unit)];
    for (let i = Math.max(0, row - radius); i <= Math.min(size - 1, row + radius); i++)
      for (let j = Math.max(0, column - radius); j <= Math.min(size - 1, column + radius); j++)
        if ((i - row) ** 2 + (j - column) ** 2 <= radius ** 2 + 1) data.set([red, green, blue], 3 * (i * size + j));
  };
  for (const [i, [x, y]] of scores.entries()) dot(x!, y!, 2, colours[kinds.indexOf(species[i]!)]!);
  for (let j = 0; j < n; j++)
    for (let step = 0; step <= size; step++) {
      const reach = (3 * step) / size;
      dot(reach * loadings[0]![j]!, reach * loadings[1]![j]!, step === size ? 3 : 0, [40, 40, 40]);
    }
  writePicture('pca', { width: size, height: size, channels: 3, data });
}
