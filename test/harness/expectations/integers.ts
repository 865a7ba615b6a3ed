import { type Expectation, type Expectations, memory, range, wholes, writes } from './expectation.ts';

// Arithmetic of fields, computed with BigInt.

const bigints = 'zkmopro/mopro-msm/src/msm/metal_msm/shader';
const modulus = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
const [first, second] = [123456789n ** 8n % modulus, 987654321n ** 8n % modulus];

/** The parts of 16 bits of a number, the lowest first. */
function limbs(value: bigint, count = 16): number[] {
  return range(count).map((i) => Number((value >> BigInt(16 * i)) & 0xffffn));
}

function power(base: bigint, exponent: bigint, prime: bigint): bigint {
  let [all, square] = [1n, base];
  for (let bits = exponent; bits > 0n; bits >>= 1n) {
    if (bits & 1n) all = (all * square) % prime;
    square = (square * square) % prime;
  }
  return all;
}

const inverseOfRadix = power(1n << 256n, modulus - 2n, modulus);

function onBigints(file: string, kernel: string, names: readonly string[], result: bigint, count = 16) {
  const [a, b, to] = names as [string, string, string];
  const given = { [a]: memory('uint', limbs(first)), [b]: memory('uint', limbs(second)) };
  const expectation: Expectation = {
    kernel,
    grid: 1,
    arguments: { ...given, [to]: writes('uint', limbs(result, count)) },
  };
  return { [`${bigints}/${file}`]: [expectation] };
}

const product = (first * second * inverseOfRadix) % modulus;
const montgomery = ['lhs', 'rhs', 'result'] as const;

// Two sparse matrices of 6 rows by 5 columns, each by the columns of its entries.
const columnsOf = wholes(2 * 12, 5, 61);
const transposedParts = [0, 1].map((half) => {
  const columns = columnsOf.slice(half * 12, half * 12 + 12);
  const starts = range(6).map((column) => columns.filter((each) => each < column).length);
  return { starts, entries: range(12).sort((a, b) => columns[a]! - columns[b]! || a - b), columns };
});

const goldilocks = 2n ** 64n - 2n ** 32n + 1n;
const root = power(7n, (goldilocks - 1n) / 16n, goldilocks);
const reversed = (value: number, bits: number) =>
  range(bits).reduce((all, bit) => all | (((value >> bit) & 1) << (bits - 1 - bit)), 0);
const coefficients = range(16).map((i) => (0x9e3779b97f4a7c15n * BigInt(i + 1)) % goldilocks);
const halvesOf = (values: readonly bigint[]) =>
  values.flatMap((value) => [Number(value & 0xffffffffn), Number(value >> 32n)]);
const transform = range(16).map((place) =>
  coefficients.reduce(
    (all, value, j) => (all + value * power(root, BigInt(j * reversed(place, 4)), goldilocks)) % goldilocks,
    0n,
  ),
);

const mersenne = 2n ** 31n - 1n;
const points = wholes(16, 2 ** 24, 62).map((v) => v * 120 + 7);
const twiddles = wholes(4, 2 ** 24, 63);
const butterflies = points.slice();
for (let i = 0; i < 16; i += 8)
  for (let j = 0; j < 4; j++) {
    const turned = (BigInt(points[i + j + 4]!) * BigInt(twiddles[j]!)) % mersenne;
    butterflies[i + j] = Number((BigInt(points[i + j]!) + turned) % mersenne);
    butterflies[i + j + 4] = Number((BigInt(points[i + j]!) - turned + mersenne) % mersenne);
  }

export const integers: Expectations = {
  ...onBigints('mont_backend/mont_mul_cios.metal', 'test_mont_mul_cios', montgomery, product),
  ...onBigints('field/ff_add.metal', 'test_ff_add', ['a', 'b', 'res'], (first + second) % modulus),
  ...onBigints('field/ff_sub.metal', 'test_ff_sub', ['a', 'b', 'res'], (first - second + modulus) % modulus),
  ...onBigints('bigint/bigint_add_wide.metal', 'test_bigint_add_wide', ['a', 'b', 'res'], first + second, 17),
  [`${bigints}/cuzk/kernel_field_mul.metal`]: [
    {
      kernel: 'test_field_mul',
      // The kernel adds to an element after the last one.
      refusal: 'uses element (32) of an array of',
      grid: 1,
      arguments: {
        ...{ a: memory('uint', limbs(first, 17)), b: memory('uint', limbs(second, 17)) },
        res: writes('uint', limbs((first * second) % modulus)),
      },
    },
  ],
  [`${bigints}/cuzk/transpose.metal`]: [
    {
      kernel: 'transpose',
      grid: 2,
      arguments: {
        ...{ all_csr_col_idx: memory('uint', columnsOf), params: [5, 12] },
        all_csc_col_ptr: writes(
          'uint',
          transposedParts.flatMap(({ starts }) => starts),
        ),
        all_csc_val_idxs: writes(
          'uint',
          transposedParts.flatMap(({ entries }) => entries),
        ),
        all_curr: writes(
          'uint',
          transposedParts.flatMap(({ columns }) => range(5).map((i) => columns.filter((each) => each === i).length)),
        ),
      },
    },
  ],
  'lambdaworks/crates/math/src/gpu/metal/all.metal': [
    {
      kernel: 'radix2_dit_butterfly_fused_Goldilocks',
      grid: 8,
      threadgroup: 8,
      arguments: {
        input: writes('uint', halvesOf(transform), 0, halvesOf(coefficients)),
        twiddles: memory('uint', halvesOf(range(8).map((i) => power(root, BigInt(reversed(i, 3)), goldilocks)))),
        ...{ start_stage: 0, num_stages: 4, shared_data: { threadgroupBytes: 128 } },
      },
    },
    {
      kernel: 'cfft_butterfly_mersenne31',
      grid: 8,
      arguments: {
        ...{ input: writes('uint', butterflies, 0, points), twiddles: memory('uint', twiddles) },
        ...{ half_chunk_shift: 2, tw_offset: 0 },
      },
    },
  ],
};
