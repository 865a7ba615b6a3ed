import type { Token } from './tokens.ts';

/** Marks of two operands, from the loosest to the tightest. */
const levels = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];

const binary: { readonly [mark: string]: (a: bigint, b: bigint) => bigint | undefined } = {
  '||': (a, b) => BigInt(a !== 0n || b !== 0n),
  '&&': (a, b) => BigInt(a !== 0n && b !== 0n),
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '&': (a, b) => a & b,
  '==': (a, b) => BigInt(a === b),
  '!=': (a, b) => BigInt(a !== b),
  '<': (a, b) => BigInt(a < b),
  '<=': (a, b) => BigInt(a <= b),
  '>': (a, b) => BigInt(a > b),
  '>=': (a, b) => BigInt(a >= b),
  '<<': (a, b) => (b < 0n || b > 63n ? undefined : BigInt.asIntN(64, a << b)),
  '>>': (a, b) => (b < 0n || b > 63n ? undefined : a >> b),
  '+': (a, b) => BigInt.asIntN(64, a + b),
  '-': (a, b) => BigInt.asIntN(64, a - b),
  '*': (a, b) => BigInt.asIntN(64, a * b),
  '/': (a, b) => (b === 0n ? undefined : a / b),
  '%': (a, b) => (b === 0n ? undefined : a % b),
};

/** Parentheses within parentheses, and choices within choices. */
const deepest = 200;

/**
 * The value of a constant expression of whole numbers; undefined if it is not one. `numberNamed` knows the names, and
 * gives undefined for a name that it does not know.
 */
export function evaluate(
  tokens: readonly Token[],
  numberNamed: (name: string) => bigint | undefined,
): bigint | undefined {
  let at = 0;
  let depth = 0;
  let fails = false;
  // Within an operand that the value does not depend on, which may divide by zero.
  let skipped = 0;
  const fail = () => {
    fails = true;
    return 0n;
  };
  const take = (text: string) => tokens[at]?.text === text && ++at > 0;
  const skip = (isSkipped: boolean, read: () => bigint): bigint => {
    skipped += Number(isSkipped);
    const value = read();
    skipped -= Number(isSkipped);
    return value;
  };
  const choice = (): bigint => {
    const condition = level(0);
    if (!take('?')) return condition;
    // Each choice may end in another.
    if (fails || depth > deepest) return fail();
    depth++;
    const yes = skip(condition === 0n, choice);
    const no = take(':') ? skip(condition !== 0n, choice) : fail();
    depth--;
    return condition === 0n ? no : yes;
  };
  const level = (which: number): bigint => {
    if (which === levels.length) return unary();
    let value = level(which + 1);
    while (!fails && levels[which]!.includes(tokens[at]?.text ?? '')) {
      const mark = tokens[at++]!.text;
      const isDecided = (mark === '||' && value !== 0n) || (mark === '&&' && value === 0n);
      const right = skip(isDecided, () => level(which + 1));
      value = isDecided ? BigInt(mark === '||') : (binary[mark]!(value, right) ?? (skipped > 0 ? 0n : fail()));
    }
    return value;
  };
  const unary = (): bigint => {
    const token = tokens[at++];
    if (token === undefined || depth > deepest) return fail();
    depth++;
    const value = operand(token);
    depth--;
    return value;
  };
  const operand = ({ kind, text }: Token): bigint => {
    if (text === '!') return BigInt(unary() === 0n);
    if (text === '-') return -unary();
    if (text === '+') return unary();
    if (text === '~') return ~unary();
    if (text === '(') {
      // A cast to a number's type changes no index.
      if (types.has(tokens[at]?.text ?? '') && tokens[at + 1]?.text === ')') {
        at += 2;
        return unary();
      }
      const value = choice();
      return take(')') ? value : fail();
    }
    if (kind === 'number') return numberOf(text) ?? fail();
    if (kind === 'literal') return text.length === 3 ? BigInt(text.charCodeAt(1)) : fail();
    if (kind !== 'word') return fail();
    if (types.has(text) && take('(')) {
      const value = choice();
      return take(')') ? value : fail();
    }
    let name = text;
    while (take('::')) name = tokens[at++]?.text ?? '';
    return name === 'true' ? 1n : name === 'false' ? 0n : (numberNamed(name) ?? fail());
  };
  const value = choice();
  return fails || at < tokens.length ? undefined : value;
}

const types: ReadonlySet<string> = new Set([
  'int',
  'uint',
  'short',
  'ushort',
  'long',
  'ulong',
  'size_t',
  'char',
  'uchar',
  'bool',
  'uint32_t',
  'int32_t',
  'unsigned',
]);

function numberOf(text: string): bigint | undefined {
  const plain = text.replaceAll("'", '').replace(/[uUlL]+$/, '');
  if (/^0[0-7]+$/.test(plain)) return BigInt(`0o${plain}`);
  return /^(?:\d+|0[xX][\da-fA-F]+|0[bB][01]+)$/.test(plain) ? BigInt(plain) : undefined;
}
