import { isFloat } from './mathematics.ts';
import { atom, before, between, either, highest, type Printed, within } from './printed.ts';
import type { Expression, NumbersInside, ValueType } from './tree.ts';

/** Prints expressions as JavaScript with the roundings of their types. */
export class JavaScriptExpressions {
  readonly #check: boolean;
  /** What messages call the text that is printed. */
  path = '';

  /** With `check`, each access is checked. */
  constructor(check: boolean) {
    this.#check = check;
  }

  text(value: Expression): string {
    return this.print(value).text;
  }

  print(value: Expression): Printed {
    switch (value.op) {
      case 'number':
        return numberText(value.value);
      case 'boolean':
        return atom(String(value.value));
      case 'variable':
        return atom(value.variable.name);
      case 'element':
        return atom(this.element(value.numbers, value.index, value.line));
      case 'length':
        return atom(`${value.numbers.name}.length`);
      case 'unary':
        return value.operator === '!'
          ? before('!', this.print(value.value))
          : this.#rounded(value.type, before(value.operator, this.print(value.value)));
      case 'binary':
        return this.#binary(value);
      case 'compare': {
        const { operator } = value;
        const own = operator === '==' || operator === '!=' ? `${operator}=` : operator;
        return between(own, this.print(value.left), this.print(value.right));
      }
      case 'logical':
        return between(value.operator, this.print(value.left), this.print(value.right));
      case 'choice':
        return either(this.print(value.test), this.print(value.yes), this.print(value.no));
      case 'convert':
        return this.#convert(value.value, value.type);
      case 'call':
        return this.#call(value);
      case 'own': {
        const all = value.values.map((each) => ('op' in each ? this.text(each) : each.name));
        return atom(`${value.instance.name}(${all.join(', ')})`);
      }
      case 'atomic': {
        const { name, numbers, index } = value;
        return atom(`${name}(${numbers.name}, ${this.index(numbers, index, value.line)}, ${this.text(value.value)})`);
      }
    }
  }

  element(numbers: NumbersInside, index: Expression, line: number): string {
    return `${numbers.name}[${this.index(numbers, index, line)}]`;
  }

  index({ name }: NumbersInside, index: Expression, line: number): string {
    return this.#check
      ? `inside(${name}, ${this.text(index)}, '${name}', ${JSON.stringify(this.path)}, ${line})`
      : this.text(index);
  }

  // A whole number below 2^53 becomes one of 32 bits, a sum of floats a float.
  #rounded(type: ValueType, value: Printed): Printed {
    if (type === 'f32') return atom(`fround(${value.text})`);
    if (type === 'i32') return between('|', value, atom('0'));
    return type === 'u32' ? between('>>>', value, atom('0')) : value;
  }

  #binary({ operator, type, left, right }: Expression & { readonly op: 'binary' }): Printed {
    const [a, b] = [this.print(left), this.print(right)];
    if (operator === '*' && !isFloat(type)) {
      const product = atom(`imul(${a.text}, ${b.text})`);
      return type === 'u32' ? this.#rounded('u32', product) : product;
    }
    if (operator === '>>>') {
      // JavaScript's >>> makes a uint of its left side.
      const bare = left.op === 'convert' && left.value.type === 'i32' ? this.print(left.value) : a;
      return between('>>>', bare, b);
    }
    const result = between(operator, a, b);
    // What these give is an int already.
    if (type === 'i32' && ['&', '|', '^', '<<', '>>'].includes(operator)) return result;
    return this.#rounded(type, result);
  }

  #convert(value: Expression, type: ValueType): Printed {
    const from = value.type;
    const inner = this.print(value);
    const number = from === 'bool' ? atom(`Number(${inner.text})`) : inner;
    if (from === 'bool' || type === 'f64') return number;
    if (type === 'f32') return atom(`fround(${inner.text})`);
    if (isFloat(from)) return atom(`${type === 'i32' ? 'toInt' : 'toUint'}(${inner.text})`);
    return this.#rounded(type, inner);
  }

  #call({ name, type, values }: Expression & { readonly op: 'call' }): Printed {
    const all = values.map((each) => this.print(each));
    const [a, b] = all;
    switch (name) {
      case 'quotient':
      case 'unsignedQuotient':
        return this.#rounded(type, between('/', a!, b!));
      case 'remainder':
      case 'unsignedRemainder':
        return this.#rounded(type, between('%', a!, b!));
      case 'floorQuotient':
        return this.#rounded(type, atom(`Math.floor(${between('/', a!, b!).text})`));
      case 'fma':
        return atom(`fma(${all.map(({ text }) => text).join(', ')})`);
      case 'hypot': {
        const squares = all.map((each) => this.#rounded(type, between('*', each, each)));
        return this.#rounded(
          type,
          atom(`Math.sqrt(${squares.reduce((x, y) => this.#rounded(type, between('+', x, y))).text})`),
        );
      }
      default:
        return this.#mathematics(name, type, atom(`Math.${name}(${all.map(({ text }) => text).join(', ')})`));
    }
  }

  #mathematics(name: string, type: ValueType, value: Printed): Printed {
    // These give one of their arguments, or a whole number that is a float.
    const isExact = ['min', 'max', 'floor', 'ceil', 'trunc', 'round', 'sign', 'clz32'].includes(name);
    return isExact || (name === 'abs' && type !== 'i32') ? value : this.#rounded(type, value);
  }
}

function numberText(value: number): Printed {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return text.startsWith('-') ? { text, level: 14 } : { text: within(atom(text), 0), level: highest };
}
