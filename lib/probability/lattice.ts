import { philox } from '../stream/philox.ts';
import type { Work } from '../work.ts';

/** The number of independent random shifts of the lattice; their spread gives the error. */
export const lattices = 12;
const fewest = 7; // the exponent of 2 of the points of one lattice
const mostPower = 20;

/** The fewest and the most points of an estimate. */
export const pointLimits: readonly [number, number] = [lattices << fewest, lattices << mostPower];

/** The accuracy at which an estimate ends. */
export interface Accuracy {
  readonly absoluteError: number;
  readonly relativeError: number;
  readonly maxPoints: number;
}

/** A mean over the unit cube. */
interface LatticeEstimate {
  readonly mean: number;
  /** Three standard errors, and what steps and corners of the function hide that the points may have missed. */
  readonly error: number;
  readonly points: number;
}

/**
 * The mean of a function over the unit cube by randomly shifted lattice rules with the baker's transform (Hickernell
 * 2002). The points are doubled until the error is within the accuracy or they would exceed maxPoints. `steps` are the
 * widths of steps from 0 to 1 that the function may have: few points see none of a narrow one, and agree with each
 * other on a wrong mean. So they do where the function, which is from 0 to `most`, is 0 but in a corner that they miss.
 * Yields after each `pointsAtOnce`.
 */
export function* latticeMean(
  value: (u: Float64Array) => number,
  dimensions: number,
  seed: Uint32Array,
  { absoluteError, relativeError, maxPoints }: Accuracy,
  pointsAtOnce: number,
  steps: readonly number[] = [],
  most = 1,
): Work<LatticeEstimate> {
  const rules = Array.from({ length: lattices }, (_, rule) => randomRule(seed, rule, latticeVector, dimensions));
  const sums = new Float64Array(lattices);
  const u = new Float64Array(dimensions);
  let done = 0;
  // Squares are in units of the largest value: those of a tail below 1e-162 would underflow.
  let largest = 0;
  let sumOfSquares = 0;
  for (let power = fewest; ; power++) {
    const count = 2 ** power;
    // The points of the previous rule are the even ones of this rule.
    const [begin, step] = power === fewest ? [0, 1] : [1, 2];
    for (const [rule, { shifts, generator }] of rules.entries()) {
      for (let k = begin; k < count; k += step) {
        for (let j = 0; j < dimensions; j++) {
          const x = (Math.imul(k, generator[j]!) & (count - 1)) / count + shifts[j]!;
          u[j] = Math.abs(2 * (x - Math.floor(x)) - 1);
        }
        const one = value(u);
        sums[rule]! += one;
        if (one > largest) {
          sumOfSquares *= (largest / one) ** 2;
          largest = one;
        }
        if (one > 0) sumOfSquares += (one / largest) ** 2;
        if (++done % pointsAtOnce === 0) yield;
      }
    }
    const mean = sums.reduce((total, sum) => total + sum, 0) / done;
    // A power of two, which rounds nothing.
    const unit = largest > 0 ? 2 ** Math.floor(Math.log2(largest)) : 1;
    const squares = sums.reduce((total, sum) => total + ((sum / count - mean) / unit) ** 2, 0);
    // As many points with one value as would tell as much.
    const seen = ((mean / largest) * done) ** 2 / sumOfSquares;
    const unseen = seen >= enoughSeen ? 0 : (3 * most) / done;
    const error = 3 * unit * Math.sqrt(squares / (lattices * (lattices - 1))) + missed(steps, done) + unseen;
    // A mean of 0 says nothing of its relative error.
    const isKnown = mean !== 0 || absoluteError > 0;
    const isGood = isKnown && error <= Math.max(absoluteError, relativeError * mean);
    if (isGood || 2 * done > maxPoints || power === mostPower) return { mean, error, points: done };
  }
}

// Fewer may be the rim of a corner of which the points have seen nothing, and which then is at most 3 of their shares.
const enoughSeen = 50;

/** What steps that too few points lie in may change: a normal one hides at most 0.16 of its width. */
function missed(steps: readonly number[], points: number): number {
  return steps.reduce((sum, width) => (points * width < 32 ? sum + width / 6 : sum), 0);
}

/**
 * The generating vector z of an embedded lattice rule: point k of 2^m is the fractional part of k z / 2^m, and the
 * points with an even k are the rule of 2^(m - 1). test/answers/lattice-vector.py made it for 2^7 to 2^20 points
 * (Cools, Kuo, Nuyens, SIAM J. Sci. Comput. 28, 2006).
 */
export const latticeVector: Uint32Array = new Uint32Array([
  1, 433461, 52677, 804517, 13949, 647401, 551805, 833425, 449645, 680537, 249813, 837089, 819889, 496121, 6077, 84405,
  188697, 909385, 650513, 697497, 194041, 19733, 22249, 636741, 384729, 69101, 628589, 208737, 120109, 164705, 70813,
  39889, 694669, 85025, 376681, 956141, 155781, 737677, 599389, 805129, 490173, 290153, 208169, 1005533, 332477, 157613,
  452897, 391377, 414689, 1007581, 920937, 447805, 953977, 575521, 723569, 506849, 847605, 554321, 385857, 126761,
  516637, 219405, 445137, 808941, 255441, 535085, 794273, 959925, 150485, 807957, 11417, 340365, 1009501, 673285,
  242697, 11841, 506345, 663221, 494889, 852793, 424777, 626057, 902353, 455337, 994013, 1040053, 285461, 421721,
  787757, 567417, 110673, 280989, 900349, 146677, 741437, 334341, 484573, 503273, 136965, 565429, 995261, 317289,
  569177, 855433, 652005, 357973, 912397, 1042965, 160065, 617657, 417605, 903973, 253557, 547473, 164937, 78049, 41701,
  1024449, 535185, 428393, 457797, 315841, 367357, 194145, 224249, 339225, 665197, 490749, 723241, 299921, 182133,
  592597, 5009, 467777, 546345, 783353, 761301, 472401, 911681, 436025, 670385, 724377, 747917, 178957, 98853, 266905,
  977293, 920557, 472965, 944673, 522365, 720309, 675741, 950457, 99909, 827177, 250169, 965449, 129501, 248517, 263877,
  307989, 114865, 571825, 179853, 731053, 154285, 940961, 373913, 695265, 517753, 665749, 495129, 221373, 884453, 40105,
  303469, 913561, 707565, 437569, 986341, 922037, 319921, 819337, 330833, 411949, 878621, 1019049, 533937, 549841,
  674973, 709017, 354609, 587437, 913337, 712165, 492993, 442777, 311217, 519005, 412137, 119569, 327181, 47501, 463025,
  695437, 926657, 863213, 1003465, 757105, 5037, 408745, 759153, 959061, 582389, 3281, 1008149, 547833, 261297, 242865,
  67725, 825129, 605613, 511669, 83541, 628333, 582493, 43605, 57877, 229513, 965141, 852637, 347697, 434145, 483749,
  790937, 383573, 901789, 708833, 479153, 745621, 350693, 524957, 688777, 770717, 402949, 358441, 691761, 441257,
  933805, 305101, 73205, 265101, 987969, 614189, 387933,
]);

/**
 * The random parts of one lattice rule: a shift in [0, 1) for each coordinate, and the components of the generating
 * vector beyond the precomputed ones. A function of the seed (two words, low first) and the rule's number alone.
 */
export function randomRule(
  seed: Uint32Array,
  rule: number,
  vector: Uint32Array,
  dimensions: number,
): { readonly shifts: Float64Array; readonly generator: Uint32Array } {
  const shifts = new Float64Array(dimensions);
  const generator = new Uint32Array(dimensions);
  const words = new Int32Array(4);
  for (let j = 0; j < dimensions; j++) {
    // The last streams of the seed, which normals do not use.
    philox(j, 0, ~rule, -1, seed[0]!, seed[1]!, words, 0);
    shifts[j] = ((words[0]! >>> 5) * 2 ** 26 + (words[1]! >>> 6)) * 2 ** -53;
    generator[j] = vector[j] ?? words[2]! | 1;
  }
  return { shifts, generator };
}
