import { type Expectations, memory, numbers, product, range, sum, transposed, wholes, writes } from './expectation.ts';

// What SPIRV-Cross and naga write for shaders of other languages.

const folder = 'spirv-cross/reference';
const points = numbers(12, 71).map((v) => v + (v < 0 ? -0.5 : 0.5));
const matrix = numbers(16, 72).map((v) => v / 2); // by columns

const times = (vector: readonly number[]) => product(transposed(matrix, 4), vector, 4, 1);
const repeated = (vector: readonly number[], count: number) => range(count).reduce(times, vector);

/** A matrix of columns of two, three or four numbers, as it lies in memory; NaN is padding. */
function laidOut(columns: readonly (readonly number[])[]): number[] {
  return columns.flatMap((column) => (column.length === 3 ? [...column, Number.NaN] : column));
}

const [v2, v3, v4] = [points.slice(0, 2), points.slice(2, 5), points.slice(5, 9)];
const outer = (a: readonly number[], b: readonly number[]) => laidOut(b.map((y) => a.map((x) => Math.fround(x * y))));

/** The inverse of a matrix by Gauss and Jordan. */
function inverse(columns: readonly (readonly number[])[]): number[][] {
  const n = columns.length;
  const rows = range(n).map((i) => [...range(n).map((j) => columns[j]![i]!), ...range(n).map((j) => Number(i === j))]);
  for (let pivot = 0; pivot < n; pivot++) {
    const best = range(n)
      .slice(pivot)
      .sort((a, b) => Math.abs(rows[b]![pivot]!) - Math.abs(rows[a]![pivot]!))[0]!;
    [rows[pivot], rows[best]] = [rows[best]!, rows[pivot]!];
    const by = rows[pivot]![pivot]!;
    rows[pivot] = rows[pivot]!.map((v) => v / by);
    for (let i = 0; i < n; i++) {
      const share = rows[i]![pivot]!;
      if (i !== pivot) rows[i] = rows[i]!.map((v, k) => v - share * rows[pivot]![k]!);
    }
  }
  return range(n).map((j) => rows.map((row) => row[n + j]!));
}

const squares = [2, 3, 4].map((n) =>
  range(n).map((j) => range(n).map((i) => numbers(n * n, 73 + n)[j * n + i]! + (i === j ? 3 : 0))),
);

const [factors, others] = [wholes(13, 2 ** 24, 74), wholes(13, 2 ** 24, 75)].map((all) => all.map((v) => v * 250));
/** The places of a, b, c and d, which are vectors of one to four numbers. */
const places = [[0], [4, 5], [12, 13, 14], [28, 29, 30, 31]].map(
  (all) => [all, [1, 2, 2, 2][all.length - 1]!] as const,
);

/** Words a to d of scalars and vectors, with c the high and d the low words of a * b. */
function extended(isSigned: boolean, isAfter: boolean): number[] {
  const words: number[] = new Array(44).fill(isAfter ? Number.NaN : 0);
  let next = 0;
  for (const [first] of places) {
    const step = first.length === 1 ? 1 : first.length === 2 ? 2 : 4;
    for (const at of first) {
      const [a, b] = [factors![next]!, others![next]!].map((v) => (isSigned ? v | 0 : v));
      next++;
      const whole = BigInt(a!) * BigInt(b!);
      [words[at], words[at + step]] = [a! >>> 0, b! >>> 0];
      if (!isAfter) continue;
      words[at + 2 * step] = Number(BigInt.asUintN(32, whole >> 32n));
      words[at + 3 * step] = Number(BigInt.asUintN(32, whole));
    }
  }
  return words;
}

const lanes = numbers(32, 76);
const above = lanes.filter((v) => v > 0);

const starts = wholes(40, 100000, 77).map((v) => v + 1);
const steps = (from: number) => {
  let count = 0;
  for (let value = from; value > 1; count++) value = value % 2 === 0 ? value / 2 : 3 * value + 1;
  return count;
};

const birds = numbers(1500 * 4, 78);
const rules = { deltaT: 0.04, rule1Distance: 0.1, rule2Distance: 0.025, rule3Distance: 0.025 };
const scales = { rule1Scale: 0.02, rule2Scale: 0.05, rule3Scale: 0.005 };
const flown = range(1500).flatMap((i) => {
  const at = (k: number, part: number) => birds[4 * k + part]!;
  const distance = (k: number) => Math.sqrt((at(k, 0) - at(i, 0)) ** 2 + (at(k, 1) - at(i, 1)) ** 2);
  const near = range(1500).filter((k) => k !== i && distance(k) < rules.rule1Distance);
  const within = (most: number) => near.filter((k) => distance(k) < most);
  const [all, close, like] = [near, within(rules.rule2Distance), within(rules.rule3Distance)];
  const mean = (list: readonly number[], part: number) => sum(list.map((k) => at(k, part))) / list.length;
  const velocity = [0, 1].map((part) => {
    const to = all.length > 0 ? mean(all, part) - at(i, part) : 0;
    const away = -sum(close.map((k) => at(k, part) - at(i, part)));
    const along = like.length > 0 ? mean(like, part + 2) : 0;
    return at(i, part + 2) + to * scales.rule1Scale + away * scales.rule2Scale + along * scales.rule3Scale;
  });
  const speed = Math.hypot(velocity[0]!, velocity[1]!);
  const next = velocity.map((v) => (v / speed) * Math.min(speed, 0.1));
  const place = [0, 1].map((part) => at(i, part) + next[part]! * rules.deltaT);
  return [...place.map((v) => (v < -1 ? 1 : v > 1 ? -1 : v)), ...next];
});

export const generated: Expectations = {
  [`${folder}/shaders-msl/comp/shared.comp`]: [
    {
      kernel: 'main0',
      grid: 12,
      threadgroup: 4,
      arguments: {
        _22: memory('float', points),
        _44: writes(
          'float',
          points.map((_, i) => points[i - (i % 4) + 3 - (i % 4)]!),
        ),
      },
    },
  ],
  [`${folder}/shaders-msl/comp/dowhile.comp`]: [
    {
      kernel: 'main0',
      grid: 3,
      arguments: {
        _28: memory('float', [...matrix, ...points]),
        _52: writes(
          'float',
          range(3).flatMap((i) => repeated(points.slice(4 * i, 4 * i + 4), 16)),
          1e-4,
        ),
      },
    },
  ],
  [`${folder}/shaders-msl/comp/insert.comp`]: [
    { kernel: 'main0', grid: 2, arguments: { _27: writes('float', [10, 20, 70, 90, 10, 20, 70, 90]) } },
  ],
  [`${folder}/shaders-msl/comp/outer-product.comp`]: [
    {
      kernel: 'main0',
      grid: 1,
      arguments: {
        _26: memory('float', [...v2, 0, 0, ...v3, 0, ...v4]),
        _21: writes('float', [
          ...[outer(v2, v2), outer(v3, v2), outer(v4, v2), outer(v2, v3)].flat(),
          ...[
            [Number.NaN, Number.NaN],
            outer(v3, v3),
            outer(v4, v3),
            outer(v2, v4),
            outer(v3, v4),
            outer(v4, v4),
          ].flat(),
        ]),
      },
    },
  ],
  [`${folder}/opt/shaders-msl/comp/inverse.comp`]: [
    {
      kernel: 'main0',
      grid: 1,
      arguments: {
        _20: memory('float', squares.flatMap(laidOut)),
        _15: writes(
          'float',
          squares.flatMap((each) => laidOut(inverse(each))),
          1e-5,
        ),
      },
    },
  ],
  [`${folder}/opt/shaders-msl/desktop-only/comp/extended-arithmetic.desktop.comp`]: [
    {
      kernel: 'main0',
      grid: 1,
      arguments: {
        u: writes('uint', extended(false, true), 0, extended(false, false)),
        i: writes('uint', extended(true, true), 0, extended(true, false)),
      },
    },
  ],
  [`${folder}/shaders-msl/comp/shader_ballot.msl22.comp`]: [
    {
      kernel: 'main0',
      grid: 32,
      threadgroup: 32,
      arguments: {
        _12: memory('float', lanes),
        _87: writes('float', [...above, ...new Array(32 - above.length).fill(0)]),
      },
    },
  ],
  'naga/naga/tests/out/msl/collatz.msl': [
    {
      kernel: 'main_',
      grid: 40,
      arguments: { v_indices: writes('uint', starts.map(steps), 0, starts), _buffer_sizes: { size0: 160 } },
    },
  ],
  'naga/naga/tests/out/msl/boids.msl': [
    {
      kernel: 'main_',
      grid: 1500,
      arguments: {
        ...{ params: { ...rules, ...scales }, particlesSrc: memory('float', birds) },
        ...{ particlesDst: writes('float', flown, 1e-5), _buffer_sizes: { size1: 24000, size2: 24000 } },
      },
    },
  ],
  'naga/naga/tests/out/msl/workgroup-var-init.msl': [
    {
      kernel: 'main_',
      grid: 1,
      arguments: {
        w_mem: { threadgroupBytes: 2308 },
        output: writes('uint', new Array(512).fill(0), 0, new Array(512).fill(7)),
      },
    },
  ],
};
