import type { Node } from 'acorn';
import { bits, cast, commonType, converted, isWholeType, literal, settledType, typeInWords } from './conversion.ts';
import { isFloat } from './mathematics.ts';
import type { Context } from './scope.ts';
import type { Expression, ValueType } from './tree.ts';

// The values of operators between literals, as JavaScript has them.
const folded: { readonly [operator: string]: (a: number, b: number) => number | boolean } = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '**': (a, b) => a ** b,
  '<<': (a, b) => a << b,
  '>>': (a, b) => a >> b,
  '>>>': (a, b) => a >>> b,
  '&': (a, b) => a & b,
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
};

const isLiteral = ({ op, type }: Expression) => op === 'number' && (type === 'whole' || type === 'fraction');

/** A binary operator between two values; `node` is the place. */
export function binary(context: Context, node: Node, given: string, left: Expression, right: Expression): Expression {
  const operator = given === '===' ? '==' : given === '!==' ? '!=' : given;
  if (left.op === 'number' && right.op === 'number' && isLiteral(left) && isLiteral(right)) {
    const value = folded[operator]?.(left.value, right.value);
    if (typeof value === 'boolean') return { op: 'boolean', type: 'bool', value };
    const isFraction = operator === '/' || operator === '**' || left.type === 'fraction' || right.type === 'fraction';
    if (value !== undefined) return literal(value, isFraction && !'|&^<<>>>'.includes(operator));
  }
  switch (operator) {
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '**':
      return arithmetic(context, node, operator, left, right);
    case '<<':
    case '>>':
    case '>>>':
      return shift(context, node, operator, left, right);
    case '&':
    case '|':
    case '^':
      return bitwise(context, node, operator, left, right);
    case '<':
    case '>':
    case '<=':
    case '>=':
    case '==':
    case '!=':
      return comparison(context, node, operator, left, right);
    default:
      throw context.source.refusal(node, `Operator (${given}) is not one that kernels have${otherwise[given] ?? ''}`);
  }
}

const otherwise: { readonly [operator: string]: string } = {
  '??': ': no value is missing in a kernel',
  in: '',
  instanceof: '',
};

function arithmetic(context: Context, node: Node, operator: string, left: Expression, right: Expression): Expression {
  for (const { type } of [left, right])
    if (type === 'bool')
      throw context.source.refusal(
        node,
        `A side of (${context.source.wordsOf(node)}) is ${typeInWords(type)}: write (flag ? 1 : 0)`,
      );
  if (operator === '**') {
    // Math.pow, which minifiers write so: whole numbers become f32.
    const type = commonType(context, node, left, right) === 'f64' ? 'f64' : 'f32';
    const values = [converted(context, node, left, type), converted(context, node, right, type)];
    return { op: 'call', type, name: 'pow', values };
  }
  if (operator === '/' && isWholeType(left.type) && isWholeType(right.type)) {
    const [a, b] = [converted(context, node, left, 'f32'), converted(context, node, right, 'f32')];
    return { op: 'binary', type: 'f32', operator, left: a, right: b, whole: [left, right] };
  }
  const type = settled(context, commonType(context, node, left, right));
  const [a, b] = [converted(context, node, left, type), converted(context, node, right, type)];
  if (operator === '%' && !isFloat(type))
    return { op: 'call', type, name: type === 'u32' ? 'unsignedRemainder' : 'remainder', values: [a, b] };
  return { op: 'binary', type, operator, left: a, right: b };
}

// Until all types are known a local may be of a literal's type, and so may what is computed with it.
function settled(context: Context, type: Expression['type']): ValueType {
  return context.strict ? settledType(type as ValueType) : (type as ValueType);
}

function shift(context: Context, node: Node, operator: string, left: Expression, right: Expression): Expression {
  if (operator === '>>>' && right.op === 'number' && right.value === 0 && left.type !== 'bool')
    return cast(left, 'u32');
  if (operator === '>>' && left.type === 'u32')
    throw context.source.refusal(
      node,
      'A u32 is shifted right by >>>, which brings in zeros: write >>>, or i32(...) first',
    );
  const type = operator === '>>>' || left.type === 'u32' ? 'u32' : 'i32';
  const count = bits(context, node, right, right.type === 'u32' ? 'u32' : 'i32');
  return { op: 'binary', type, operator, left: bits(context, node, left, type), right: count };
}

function bitwise(context: Context, node: Node, operator: string, left: Expression, right: Expression): Expression {
  if (left.type === 'bool' || right.type === 'bool')
    throw context.source.refusal(node, `Conditions are joined by && and ||, not by (${operator})`);
  // x | 0 is how JavaScript says i32(x).
  if (operator === '|' && right.op === 'number' && right.value === 0 && right.type === 'whole')
    return truncated(context, node, left);
  const isUnsigned = [left, right].every(({ type, op }) => type === 'u32' || (type === 'whole' && op === 'number'));
  const type = isUnsigned ? 'u32' : 'i32';
  const [a, b] = [bits(context, node, left, type), bits(context, node, right, type)];
  return { op: 'binary', type, operator, left: a, right: b };
}

function comparison(context: Context, node: Node, operator: string, left: Expression, right: Expression): Expression {
  const common = commonType(context, node, left, right);
  if (common === 'bool' && operator !== '==' && operator !== '!=')
    throw context.source.refusal(node, `Conditions have no order: (${operator}) is for numbers`);
  const type = settled(context, common);
  const [a, b] = [converted(context, node, left, type), converted(context, node, right, type)];
  return { op: 'compare', type: 'bool', operator, left: a, right: b };
}

/** i32(x), and the quotient of whole numbers where x is one. */
export function truncated(context: Context, node: Node, value: Expression): Expression {
  return wholeQuotient(context, node, value, 'quotient') ?? cast(value, 'i32');
}

/**
 * The whole part of a quotient of whole numbers, towards 0 or downwards; undefined if the value is something else.
 * Refuses a literal that the type of the other side does not hold.
 */
export function wholeQuotient(
  context: Context,
  node: Node,
  value: Expression,
  name: 'quotient' | 'floorQuotient',
): Expression | undefined {
  if (value.op !== 'binary' || value.whole === undefined) return undefined;
  const [left, right] = value.whole;
  const isUnsigned = [left, right].every(({ type, op }) => type === 'u32' || (type === 'whole' && op === 'number'));
  const isMixed = !isUnsigned && (left.type === 'u32' || right.type === 'u32');
  if (isMixed) return undefined;
  const type = isUnsigned ? 'u32' : 'i32';
  const side = (each: Expression) => (isLiteral(each) ? converted(context, node, each, type) : cast(each, type));
  return {
    ...{ op: 'call', type, name: isUnsigned ? 'unsignedQuotient' : name },
    values: [side(left), side(right)],
  };
}

/** An operator before a value. */
export function unary(context: Context, node: Node, operator: string, value: Expression): Expression {
  const { source } = context;
  switch (operator) {
    case '+':
      if (value.type !== 'bool') return value;
      break;
    case '-':
      if (isLiteral(value) && value.op === 'number') {
        // -0 has a sign, as no whole number has.
        return literal(-value.value, value.type === 'fraction' || value.value === 0);
      }
      if (value.type !== 'bool') {
        const type = settled(context, value.type);
        return { op: 'unary', type, operator, value: converted(context, node, value, type) };
      }
      break;
    case '~': {
      if (!isWholeType(value.type)) break;
      const type = value.type === 'u32' ? 'u32' : 'i32';
      return { op: 'unary', type, operator, value: cast(value, type) };
    }
    case '!':
      if (value.type === 'bool') return { op: 'unary', type: 'bool', operator, value };
      // Minifiers write true as !0.
      if (value.op === 'number') return { op: 'boolean', type: 'bool', value: !value.value };
      break;
    default:
      throw source.refusal(node, `Operator (${operator}) is not one that kernels have`);
  }
  const hint = operator === '~' ? ': write i32(...)' : operator === '!' ? ': compare it, as in (x === 0)' : '';
  throw source.refusal(node, `Operator (${operator}) does not take what is ${typeInWords(value.type)}${hint}`);
}
