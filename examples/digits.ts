// One normal for each digit: fitted to 28 x 28 pixels of handwriting (MNIST: LeCun, Cortes and Burges; the 10,000 that
// the package mnist carries) with Ledoit and Wolf's shrinkage, since many pixels never change. New digits are drawn
// from each, and the digits that were held back are told by the highest log density.
import { createRequire } from 'node:module';
import { Matrix, MultivariateNormal } from '../lib/index.ts';
import { askedDevice, exampleOptions } from './example-options.ts';
import { writePicture } from './picture.ts';
import { tellWithin } from './verdict.ts';

const { device: kind, train, draws } = exampleOptions({ train: 80, draws: 10 });
const side = 28;
const pixels = side * side;
const digits = [...Array(10).keys()];
using device = askedDevice(kind);

const data = digits.map(digitsOf);
const kept = data.map(({ length }) => Math.floor((train / 100) * (length / pixels)));
const began = performance.now();
const normals = await Promise.all(
  digits.map((digit) =>
    MultivariateNormal.fit({
      device,
      rows: Matrix.from(data[digit]!.subarray(0, kept[digit]! * pixels), { columns: pixels }),
      shrinkage: 'ledoit-wolf',
    }),
  ),
);
const total = kept.reduce((sum, each) => sum + each, 0);
console.log(`fit      ${total} digits of ${pixels} pixels, ${((performance.now() - began) / 1000).toFixed(1)} s`);

await drawSheet();
await classify();
for (const normal of normals) normal.close();

/** Row by row a digit, `draws` of each. */
async function drawSheet(): Promise<void> {
  const width = draws * side;
  const sheet = new Uint8Array(width * digits.length * side);
  for (const digit of digits) {
    using sample = await normals[digit]!.sample(draws, { seed: 1998, stream: digit });
    sample.data.forEach((value, at) => {
      const [row, column] = [Math.floor((at % pixels) / side), (at % pixels) % side];
      const x = Math.floor(at / pixels) * side + column;
      sheet[(digit * side + row) * width + x] = Math.round(255 * Math.min(1, Math.max(0, value)));
    });
  }
  writePicture('digits', { width, height: digits.length * side, channels: 1, data: sheet });
}

/** By the log density and the logarithm of how common a digit is. */
async function classify(): Promise<void> {
  const confusion = digits.map(() => digits.map(() => 0));
  for (const digit of digits) {
    const rows = Matrix.from(data[digit]!.subarray(kept[digit]! * pixels), { columns: pixels });
    const scores = await Promise.all(normals.map((normal) => normal.logPdf(rows)));
    for (let row = 0; row < rows.rows; row++) {
      const score = (each: number) => scores[each]!.data[row]! + Math.log(kept[each]!);
      const told = digits.reduce((best, each) => (score(each) > score(best) ? each : best));
      confusion[digit]![told]!++;
    }
  }
  console.log('told as   ', digits.map((digit) => String(digit).padStart(4)).join(''));
  confusion.forEach((row, digit) => {
    console.log(`digit ${digit}   `, row.map((each) => String(each).padStart(4)).join(''));
  });
  const all = confusion.flat().reduce((sum, each) => sum + each, 0);
  const right = digits.reduce((sum, digit) => sum + confusion[digit]![digit]!, 0);
  console.log(`accuracy  ${((100 * right) / all).toFixed(2)}% of ${all} digits that were held back`);
  tellWithin('accuracy', right / all, 1, 0.12);
}

function digitsOf(digit: number): Float32Array<ArrayBuffer> {
  const { data } = createRequire(import.meta.url)(`mnist/src/digits/${digit}.json`) as { data: number[] };
  return Float32Array.from(data.slice(0, data.length - (data.length % pixels)));
}
