// Random functions of the subset of TypeScript that kernels have: (a, b, i, u) of two floats, an int and a uint.

/** A generator of numbers from 0 to n - 1 (Marsaglia's xorshift). */
function dice(seed: number): (n: number) => number {
  let state = seed * 2654435761 + 1 || 1;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

type Kind = 'f32' | 'i32' | 'u32' | 'bool';

/** The text of the body of a random function that returns an f32. */
export function randomBody(seed: number): string {
  const roll = dice(seed);
  const one = <Value>(values: readonly Value[]): Value => values[roll(values.length)]!;
  const names: Record<Kind, string[]> = { f32: ['a', 'b'], i32: ['i'], u32: ['u'], bool: [] };
  const locals: Record<Kind, string[]> = { f32: [], i32: [], u32: [], bool: [] };
  let count = 0;

  const float = (depth: number): string => {
    if (depth === 0)
      return one([one(names.f32), one(names.f32), one(['0.5', '3', '-1.25', '1e-3', '16777216', '0', 'Math.PI'])]);
    const x = () => float(depth - 1);
    return one([
      () => `(${x()} ${one(['+', '-', '*'])} ${x()})`,
      () => `(${x()} ${one(['+', '-', '*'])} ${x()})`,
      () => `(${x()} ${one(['/', '%'])} ${x()})`,
      () => `Math.${one(['min', 'max'])}(${x()}, ${x()})`,
      () => `Math.${one(['sqrt', 'abs', 'floor', 'ceil', 'trunc', 'round', 'sign', 'fround'])}(f32(${x()}))`,
      () => `(${condition(depth - 1)} ? ${x()} : f32(${x()}))`,
      () => `f32(${whole(one(['i32', 'u32']), depth - 1)})`,
      () => `(${whole('i32', depth - 1)} / ${whole('i32', depth - 1)})`,
      () => `-(${x()})`,
    ])();
  };
  const whole = (kind: 'i32' | 'u32', depth: number): string => {
    const literals =
      kind === 'i32' ? ['0', '1', '-7', '2147483647', '12345'] : ['0', '1', '7', '4294967295', '2654435761'];
    if (depth === 0) return one([one(names[kind]), one(names[kind]), `${kind}(${one(literals)})`]);
    const x = () => whole(kind, depth - 1);
    const other = kind === 'i32' ? 'u32' : 'i32';
    const shared = [
      () => `(${x()} ${one(['+', '-', '*'])} ${x()})`,
      () => `(${x()} ${one(['&', '|', '^'])} ${x()})`,
      () => `(${x()} % ${x()})`,
      () => `Math.${one(['trunc', 'floor'])}(${x()} / ${x()})`,
      () => `(${x()} << ${whole(one(['i32', 'u32']), depth - 1)})`,
      () => `~(${x()})`,
      () => `Math.${one(['min', 'max'])}(${x()}, ${x()})`,
      () => `(${condition(depth - 1)} ? ${x()} : ${x()})`,
      () => `${kind}(${whole(other, depth - 1)})`,
      () => `${kind}(${float(depth - 1)})`,
    ];
    const own =
      kind === 'i32'
        ? [
            () => `(${x()} >> ${x()})`,
            () => `Math.${one(['abs', 'sign'])}(${x()})`,
            () => `Math.imul(${x()}, ${x()})`,
            () => `Math.clz32(${x()})`,
            () => `-(${x()})`,
          ]
        : [() => `(${x()} >>> ${x()})`, () => `(${whole('i32', depth - 1)} >>> ${x()})`];
    return one([...shared, ...own])();
  };
  const condition = (depth: number): string => {
    if (depth <= 0) return one(['true', ...names.bool, '(i < 3)']);
    const kind = one(['f32', 'i32', 'u32'] as const);
    const side = () => (kind === 'f32' ? float(depth - 1) : whole(kind, depth - 1));
    return one([
      () => `(${side()} ${one(['<', '>', '<=', '>=', '===', '!=='])} ${side()})`,
      () => `(${condition(depth - 1)} ${one(['&&', '||'])} ${condition(depth - 1)})`,
      () => `!${condition(depth - 1)}`,
    ])();
  };
  const value = (kind: Kind): string => {
    const depth = 1 + roll(3);
    return kind === 'f32' ? `f32(${float(depth)})` : kind === 'bool' ? condition(depth) : whole(kind, depth);
  };

  const inBlock = (depth: number): string => {
    const before = Object.fromEntries(
      [...Object.entries(names), ...Object.entries(locals).map(([kind, all]) => [`local ${kind}`, all] as const)].map(
        ([kind, all]) => [kind, all.length],
      ),
    );
    const text = Array.from({ length: 1 + roll(3) }, () => statement(depth - 1)).join(' ');
    for (const kind of ['f32', 'i32', 'u32', 'bool'] as const) {
      names[kind].length = before[kind]!;
      locals[kind].length = before[`local ${kind}`]!;
    }
    return text;
  };
  const statement = (depth: number): string => {
    const kind = one(['f32', 'f32', 'i32', 'u32', 'bool'] as const);
    const assigned = locals[kind];
    if (depth > 0 && roll(3) === 0) {
      const counter = `n${count++}`;
      return one([
        () => `if (${condition(2)}) { ${inBlock(depth)} }`,
        () => `if (${condition(2)}) { ${inBlock(depth)} } else { ${inBlock(depth)} }`,
        () =>
          `for (let ${counter} = 0; ${counter} < ${1 + roll(5)}; ${counter}++) { ${inBlock(depth)} if (${condition(1)}) ${one(['break', 'continue'])}; }`,
        () => `let ${counter} = ${1 + roll(4)}; while (${counter} > 0) { ${inBlock(depth)} ${counter}--; }`,
      ])();
    }
    if (assigned.length > 0 && roll(2) === 0) {
      const name = one(assigned);
      if (kind === 'bool' || roll(2) === 0) return `${name} = ${value(kind)};`;
      return kind === 'f32'
        ? `${name} ${one(['+=', '-=', '*='])} ${value(kind)};`
        : `${name} ${one(['+=', '*=', '^='])} ${value(kind)};`;
    }
    const name = `v${count++}`;
    const text = `let ${name} = ${value(kind)};`;
    names[kind].push(name);
    locals[kind].push(name);
    return text;
  };
  const body = Array.from({ length: 2 + roll(5) }, () => statement(2)).join('\n  ');
  const bits = `f32((i32(${float(2)}) ^ ${whole('i32', 2)} ^ i32(${whole('u32', 2)})) & 16777215)`;
  return `  ${body}\n  return ${roll(2) === 0 ? bits : `f32(${float(3)})`};`;
}
