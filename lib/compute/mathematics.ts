/** A function of Math, as kernels have it. */
interface MathFunction {
  /** How many arguments it takes; `many` is one or more. */
  readonly count: 1 | 2 | 'many';
  /** What whole numbers become: they stay, or they become f32 first. */
  readonly whole: 'stays' | 'f32';
}

const of = (count: MathFunction['count'], whole: MathFunction['whole'] = 'f32'): MathFunction => ({ count, whole });

/** The functions of Math that kernels have. Others are refused. */
export const mathFunctions: ReadonlyMap<string, MathFunction> = new Map(
  Object.entries({
    // The same bits on every device.
    abs: of(1, 'stays'),
    min: of('many', 'stays'),
    max: of('many', 'stays'),
    sign: of(1, 'stays'),
    floor: of(1, 'stays'),
    ceil: of(1, 'stays'),
    trunc: of(1, 'stays'),
    round: of(1, 'stays'),
    sqrt: of(1),
    hypot: of('many'),
    // Within a few units of the last place.
    exp: of(1),
    log: of(1),
    log2: of(1),
    log10: of(1),
    sin: of(1),
    cos: of(1),
    tan: of(1),
    asin: of(1),
    acos: of(1),
    atan: of(1),
    sinh: of(1),
    cosh: of(1),
    tanh: of(1),
    atan2: of(2),
    pow: of(2),
  }),
);

/** Numbers that Math has names for. */
export const mathConstants: ReadonlyMap<string, number> = new Map(
  (['PI', 'E', 'LN2', 'LN10', 'LOG2E', 'LOG10E', 'SQRT2', 'SQRT1_2'] as const).map((name) => [name, Math[name]]),
);

const float = /^(?:f32|f64)$/;

/** Functions that the printed Metal has of its own, so that all devices mean the same; T is float, double or int. */
const preludes: { readonly [name: string]: string } = {
  least: 'T least(T a, T b) { return a < b || a != a ? a : a == b ? (signbit(a) ? a : b) : b; }',
  greatest: 'T greatest(T a, T b) { return b < a || a != a ? a : a == b ? (signbit(a) ? b : a) : b; }',
  // A device that takes a subnormal number for 0 gives 0 for it.
  signOf: 'T signOf(T x) { return x > 0 ? T(1) : x < 0 ? T(-1) : x * T(0); }',
  nearest: `T nearest(T x) {
  const T below = FLOOR(x);
  return COPYSIGN(x - below >= T(0.5f) ? below + T(1) : below, x);
}`,
  toInt: `int toInt(T x) {
  return x >= T(2147483648.0f) ? 2147483647 : x <= T(-2147483648.0f) ? int(0x80000000u) : x != x ? 0 : int(x);
}`,
  toUint: `uint toUint(T x) { return x >= T(4294967296.0f) ? 4294967295u : x > T(0) ? uint(x) : 0u; }`,
  counted: 'T counted(T x) { return x + COPYSIGN(T(0), x); }',
  power: `T power(T x, T y) {
  const T none = y - y;
  return none == T(0) || (y == y && x != T(1) && x != T(-1)) ? POW(x, y) : none;
}`,
  quotient: 'int quotient(int a, int b) { return b == 0 ? 0 : b == -1 ? int(0u - uint(a)) : a / b; }',
  floorQuotient: `int floorQuotient(int a, int b) {
  if (b == 0 || b == -1) return b == 0 ? 0 : int(0u - uint(a));
  return a / b - int(a % b != 0 && (a < 0) != (b < 0));
}`,
  remainder: 'int remainder(int a, int b) { return b == 0 || b == -1 ? 0 : a % b; }',
  unsignedQuotient: 'uint unsignedQuotient(uint a, uint b) { return b == 0u ? 0u : a / b; }',
  unsignedRemainder: 'uint unsignedRemainder(uint a, uint b) { return b == 0u ? 0u : a % b; }',
  magnitude: 'int magnitude(int x) { return int(x < 0 ? 0u - uint(x) : uint(x)); }',
};

/** Names that the printers use for functions, so that no variable has one. */
export const printedMathNames: ReadonlySet<string> = new Set([
  ...Object.keys(preludes),
  ...mathFunctions.keys(),
  ...'clz fma fmod copysign signbit rint fabs fmin fmax select clamp mix step dot length distance cross'.split(' '),
  ...'normalize popcount ctz rotate mulhi isnan isinf any all exp2 exp10 powr fract saturate as_type'.split(' '),
  ...'threadgroup_barrier inside log console'.split(' '),
]);

/** The text of a function of the prelude for a type of Metal: `float` or `double`; whole-number ones have one text. */
export function preludeOf(name: string, type: 'float' | 'double'): string {
  const named = (name: string) => (type === 'float' ? name : `__builtin_${name}`);
  const text = preludes[name]!.replace(
    /signbit\((\w)\)/g,
    type === 'float' ? '(as_type<uint>($1) >> 31) != 0u' : '__builtin_signbit($1)',
  )
    .replaceAll('FLOOR', named('floor'))
    .replaceAll('COPYSIGN', named('copysign'))
    .replaceAll('POW', named('pow'));
  return `static ${text.replace(/\bT\b/g, type)}`;
}

/** Whether a type has a binary point. */
export function isFloat(type: string): boolean {
  return float.test(type);
}
