// The standard normal's distribution function and its inverse, in float64. Relative errors are a few units in the last
// place, in both tails: test/probability/standard-normal.test.ts has the bounds.

const densityAtZero = 0.3989422804014327; // 1 / sqrt(2 pi)
// Below this the integral is taken from zero, and a difference by a Taylor series.
const nearZero = 0.67448975;
const narrow = 0.01;

// Rational approximations of Cody (Math. Comp. 23, 1969; ANORM in ACM TOMS 19, 1993), highest power first: the integral
// from 0 to z over z, by z^2; Mills' ratio times the density at 0, by z; the same for large z, by 1 / z^2.
const nearTop = [0.06568233791820745, 2.2352520354606837, 161.02823106855587, 1067.6894854603709, 18154.98125334356];
const nearBottom = [1, 47.202581904688245, 976.0985517377767, 10260.932208618979, 45507.78933502673];
const middleTop = [
  1.0765576773720192e-8, 0.39894151208813466, 8.883149794388377, 93.50665613217785, 597.2702763948002,
  2494.5375852903726, 6848.190450536283, 11602.65143764735, 9842.714838383978,
];
const middleBottom = [
  1, 22.266688044328117, 235.387901782625, 1519.3775994075547, 6485.558298266761, 18615.571640885097, 34900.95272114598,
  38912.00328609327, 19685.429676859992,
];
const farTop = [
  0.023073441764940174, 0.215898534057957, 0.12740116116024736, 0.022235277870649807, 0.0014216191932278934,
  2.9112874951168793e-5,
];
const farBottom = [
  1, 1.284260096144911, 0.4682382124808651, 0.06598813786892856, 0.0037823963320275824, 7.297515550839662e-5,
];

/** The density at z. */
export function density(z: number): number {
  return densityAtZero * gaussian(z);
}

/** The probability of a value of at most z. */
export function cdf(z: number): number {
  const x = Math.abs(z);
  if (x <= nearZero) return 0.5 + fromZero(z);
  const tail = gaussian(x) * scaledTail(x);
  return z < 0 ? tail : 1 - tail;
}

/**
 * The probability between two limits, without the cancellation of a difference of {@link cdf}; 0 if `upper` is not
 * above `lower`.
 */
export function probabilityBetween(lower: number, upper: number): number {
  if (!(upper > lower)) return 0;
  // Uses the tail in which both limits lie, if they do.
  if (lower >= 0) return probabilityBetween(-upper, -lower);
  const width = upper - lower;
  const middle = lower + 0.5 * width;
  if (!(width * Math.max(1, Math.abs(middle)) <= narrow)) {
    if (Math.max(-lower, upper) <= nearZero) return fromZero(upper) - fromZero(lower);
    return upper <= 0 ? cdf(upper) - cdf(lower) : 1 - (cdf(lower) + cdf(-upper));
  }
  // A narrow interval: the Taylor series about the middle, whose next term is below 1e-17 of the first. In a tail, the
  // rounding of the middle matters.
  const slip = lower - middle + 0.5 * width;
  const square = middle * middle;
  const h = width * width;
  const series = 1 + (h * (square - 1)) / 24 + (h * h * (square * square - 6 * square + 3)) / 1920;
  return width * density(middle) * (1 - middle * slip) * series;
}

const centreTop = [
  2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
  133.14166789178438, 3.3871328727963665,
];
const centreBottom = [
  5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579,
  42.31333070160091, 1,
];
const tailTop = [
  0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
  5.769497221460691, 4.630337846156546, 1.4234371107496835,
];
const tailBottom = [
  1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
  1.6763848301838038, 2.053191626637759, 1,
];
const extremeTop = [
  2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487,
  1.7848265399172913, 5.463784911164114, 6.657904643501103,
];
const extremeBottom = [
  2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133, 0.014875361290850615,
  0.1369298809227358, 0.599832206555888, 1,
];

/** The z with cdf(z) = p, 0 <= p <= 1: PPND16 of Wichura (AS 241, Applied Statistics 37, 1988). NaN for another p. */
export function quantile(p: number): number {
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) {
    const r = 0.180625 - q * q;
    return (q * horner(centreTop, r)) / horner(centreBottom, r);
  }
  const tail = q < 0 ? p : 1 - p;
  if (!(tail > 0)) return tail === 0 ? Math.sign(q) * Number.POSITIVE_INFINITY : Number.NaN;
  const r = Math.sqrt(-Math.log(tail));
  const z =
    r <= 5
      ? horner(tailTop, r - 1.6) / horner(tailBottom, r - 1.6)
      : horner(extremeTop, r - 5) / horner(extremeBottom, r - 5);
  return q < 0 ? -z : z;
}

// exp(-z^2 / 2): the square is split into an exact part and a small rest, so that its rounding error is not magnified.
function gaussian(z: number): number {
  if (Math.abs(z) > 39) return 0;
  const short = Math.trunc(z * 16) / 16;
  return Math.exp(-0.5 * short * short) * Math.exp(-0.5 * (z - short) * (z + short));
}

function fromZero(z: number): number {
  const square = z * z;
  return (z * horner(nearTop, square)) / horner(nearBottom, square);
}

// The tail beyond x, for x from `nearZero` on, divided by exp(-x^2 / 2).
function scaledTail(x: number): number {
  if (x <= Math.sqrt(32)) return horner(middleTop, x) / horner(middleBottom, x);
  const inverseSquare = 1 / (x * x);
  const rest = (inverseSquare * horner(farTop, inverseSquare)) / horner(farBottom, inverseSquare);
  return (densityAtZero - rest) / x;
}

/** A polynomial at x by Horner's rule, the coefficient of the highest power first. */
function horner(coefficients: readonly number[], x: number): number {
  let sum = coefficients[0]!;
  for (let i = 1; i < coefficients.length; i++) sum = sum * x + coefficients[i]!;
  return sum;
}
