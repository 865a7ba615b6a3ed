// Tells the species of a penguin by its measurements: a normal for each species, all fitted and asked together, and a
// penguin belongs to the one whose log density, with the logarithm of the species' share, is largest (quadratic
// discriminant analysis). Each tenth of the penguins is told by normals that have not seen it.
import { MultivariateNormalBatch } from '../lib/index.ts';
import { askedDevice, exampleOptions } from './example-options.ts';
import { penguins } from './penguin-data.ts';
import { tellWithin } from './verdict.ts';

const { device: kind, folds } = exampleOptions({ folds: 10 });
using device = askedDevice(kind);
const { rows, species } = penguins();
const kinds = [...new Set(species)].sort();
const labels = species.map((each) => kinds.indexOf(each));
const told = kinds.map(() => kinds.map(() => 0));

for (let fold = 0; fold < folds; fold++) {
  const isHeldOut = (i: number) => i % folds === fold;
  const seen = [...rows.keys()].filter((i) => !isHeldOut(i));
  const unseen = [...rows.keys()].filter(isHeldOut);
  using normals = await MultivariateNormalBatch.fit({
    device,
    dtype: 'float32',
    rows: seen.map((i) => rows[i]!),
    labels: seen.map((i) => labels[i]!),
  });
  const shares = kinds.map((_, k) => seen.filter((i) => labels[i] === k).length / seen.length);
  // One row for each species, one column for each penguin.
  using densities = await normals.logPdf(unseen.map((i) => rows[i]!));
  for (const [at, i] of unseen.entries()) {
    const scores = kinds.map((_, k) => densities.get(k, at) + Math.log(shares[k]!));
    told[labels[i]!]![scores.indexOf(Math.max(...scores))]!++;
  }
}

const short = kinds.map((name) => name.split(' ')[0]!.padStart(9));
console.log(`told as             ${short.join(' ')}`);
for (const [k, counts] of told.entries())
  console.log(`${short[k]!.padEnd(19)} ${counts.map((each) => String(each).padStart(9)).join(' ')}`);
const right = told.reduce((sum, counts, k) => sum + counts[k]!, 0) / rows.length;
console.log(`right    ${(100 * right).toFixed(1)}% of ${rows.length}`);
tellWithin('share that is told right', right, 1, 0.05);
