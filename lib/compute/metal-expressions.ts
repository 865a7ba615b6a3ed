import { isFloat } from './mathematics.ts';
import { atom, before, between, either, type Printed, within } from './printed.ts';
import type { Expression, NumbersInside, ValueType } from './tree.ts';

/** The names of types in Metal. */
export const metalTypes: { readonly [type: string]: string } = {
  ...{ f32: 'float', f64: 'double', i32: 'int', u32: 'uint', u8: 'uchar', bool: 'bool', void: 'void' },
};

/** Prints expressions, and gathers which functions of the prelude they need. */
export class MetalExpressions {
  /** Texts of the prelude, by name and type. */
  readonly needed: Set<string> = new Set();
  readonly #signed: boolean;

  /** With `signed`, indices keep their sign. */
  constructor(signed: boolean) {
    this.#signed = signed;
  }

  /** A value as text. */
  text(value: Expression): string {
    return this.print(value).text;
  }

  print(value: Expression): Printed {
    switch (value.op) {
      case 'number':
        return numberText(value.value, value.type as ValueType);
      case 'boolean':
        return atom(String(value.value));
      case 'variable':
        return atom(value.variable.name);
      case 'element':
        return this.#load(value.numbers, value.index);
      case 'length':
        return atom(value.numbers.root.lengthName!);
      case 'unary':
        if (value.operator === '-' && value.type === 'u32') return between('-', atom('0u'), this.print(value.value));
        if (value.operator === '-' && !isFloat(value.type)) return this.#wrapping(value);
        return before(value.operator, this.print(value.value));
      case 'binary':
        return this.#binary(value);
      case 'compare':
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
        const what = name === 'atomicExchange' ? 'exchange' : `fetch_${name.slice('atomic'.length).toLowerCase()}`;
        const place = `&${numbers.name}[${this.index(index)}]`;
        return atom(`atomic_${what}_explicit(${place}, ${this.text(value.value)}, memory_order_relaxed)`);
      }
    }
  }

  /** An index: unsigned, so that the compiler knows that it does not go back. */
  index(value: Expression): string {
    return this.#signed ? this.text(value) : this.#unsigned(value).text;
  }

  /** The statement that writes an element. */
  store(numbers: NumbersInside, index: Expression, value: Expression): string {
    const place = `${numbers.name}[${this.index(index)}]`;
    if (numbers.root.isAtomic) return `atomic_store_explicit(&${place}, ${this.text(value)}, memory_order_relaxed);`;
    return `${place} = ${numbers.element === 'u8' ? `uchar(${this.text(value)})` : this.text(value)};`;
  }

  #load(numbers: NumbersInside, index: Expression): Printed {
    const place = `${numbers.name}[${this.index(index)}]`;
    if (numbers.root.isAtomic) return atom(`atomic_load_explicit(&${place}, memory_order_relaxed)`);
    return atom(numbers.element === 'u8' ? `int(${place})` : place);
  }

  #binary(value: Expression & { readonly op: 'binary' }): Printed {
    const { operator, type, left, right } = value;
    if (operator === '<<' || operator === '>>' || operator === '>>>') {
      const count =
        right.op === 'number' && right.value >= 0 && right.value < 32 ? atom(String(right.value)) : this.#masked(right);
      if (operator === '<<' && type === 'i32') return atom(`int(${between('<<', this.#unsigned(left), count).text})`);
      return between(operator === '<<' ? '<<' : '>>', this.print(left), count);
    }
    if (isFloat(type) && operator === '%')
      return atom(`${type === 'f64' ? '__builtin_fmod' : 'fmod'}(${this.text(left)}, ${this.text(right)})`);
    if (type === 'i32' && '+-*'.includes(operator)) return this.#wrapping(value);
    return between(operator, this.print(left), this.print(right));
  }

  #masked(count: Expression): Printed {
    return between('&', this.print(count), atom(count.type === 'u32' ? '31u' : '31'));
  }

  // Sums of ints may wrap, which C++ leaves undefined: they are computed as uints, which wrap.
  #wrapping(value: Expression): Printed {
    return atom(`int(${this.#unsigned(value).text})`);
  }

  #unsigned(value: Expression): Printed {
    if (value.type === 'u32') return this.print(value);
    if (value.op === 'number') return atom(`${value.value >>> 0}u`);
    if (value.op === 'binary' && '+-*'.includes(value.operator))
      return between(value.operator, this.#unsigned(value.left), this.#unsigned(value.right));
    if (value.op === 'unary' && value.operator === '-') return between('-', atom('0u'), this.#unsigned(value.value));
    if (value.op === 'convert' && value.value.type === 'u32') return this.print(value.value);
    return atom(`uint(${this.text(value)})`);
  }

  #convert(value: Expression, type: ValueType): Printed {
    const from = value.type;
    if ((from === 'f32' || from === 'f64') && (type === 'i32' || type === 'u32'))
      return this.#own(type === 'i32' ? 'toInt' : 'toUint', from, [value]);
    if (from === 'i32' && type === 'u32') return atom(`uint(${this.#unsigned(value).text})`);
    return atom(`${metalTypes[type]}(${this.text(value)})`);
  }

  #own(name: string, type: ValueType, values: readonly Expression[]): Printed {
    this.needed.add(`${name} ${type === 'f64' ? 'double' : 'float'}`);
    return atom(`${name}(${values.map((each) => this.text(each)).join(', ')})`);
  }

  #call({ name, type, values }: Expression & { readonly op: 'call' }): Printed {
    const all = () => values.map((each) => this.text(each));
    // The C library takes subnormal numbers apart, which count as 0: it gets that 0. Of floats, headers see to it.
    const counted = () => (type === 'f64' ? values.map((each) => this.#own('counted', type, [each]).text) : all());
    const [first, second] = values;
    const isInt = !isFloat(type);
    switch (name) {
      case 'min':
      case 'max':
        if (isInt) return atom(all().reduce((a, b) => `${name}(${a}, ${b})`));
        this.needed.add(`${name === 'min' ? 'least' : 'greatest'} ${metalTypes[type]}`);
        return atom(all().reduce((a, b) => `${name === 'min' ? 'least' : 'greatest'}(${a}, ${b})`));
      case 'quotient':
      case 'floorQuotient':
      case 'remainder': {
        const divisor = second!.op === 'number' ? second!.value : 0;
        const isPlain = divisor !== 0 && divisor !== -1 && name !== 'floorQuotient';
        if (isPlain) return between(name === 'remainder' ? '%' : '/', this.print(first!), this.print(second!));
        return this.#own(name, 'f32', values);
      }
      case 'unsignedQuotient':
      case 'unsignedRemainder':
        if (second!.op === 'number' && second!.value !== 0)
          return between(name === 'unsignedQuotient' ? '/' : '%', this.print(first!), this.print(second!));
        return this.#own(name, 'f32', values);
      case 'round':
        return this.#own('nearest', type, values);
      case 'sign':
        if (type === 'u32') return atom(`min(${all()[0]}, 1u)`);
        if (isInt) return atom(`max(-1, min(${all()[0]}, 1))`);
        return this.#own('signOf', type, values);
      case 'abs':
        if (type === 'u32') return this.print(first!);
        if (isInt) return this.#own('magnitude', type, values);
        return atom(type === 'f64' ? `__builtin_fabs(${all()[0]})` : `fabs(${all()[0]})`);
      case 'hypot':
        return this.#root(
          type,
          values.map((each) => between('*', this.print(each), this.print(each))),
        );
      case 'pow':
        this.needed.add(`power ${metalTypes[type]}`);
        return atom(`power(${counted().join(', ')})`);
      case 'log':
      case 'log2':
      case 'atan2':
        return atom(`${type === 'f64' ? '__builtin_' : ''}${name}(${counted().join(', ')})`);
      case 'sqrt':
        return this.#root(type, [this.print(first!)]);
      case 'clz32':
        return atom(`int(clz(${all()[0]}))`);
      default:
        return atom(`${type === 'f64' ? '__builtin_' : ''}${name}(${all().join(', ')})`);
    }
  }

  #root(type: ValueType, terms: readonly Printed[]): Printed {
    const sum = terms.reduce((a, b) => between('+', a, b));
    return atom(`${type === 'f64' ? '__builtin_sqrt' : 'sqrt'}(${within(sum, 0)})`);
  }
}

function numberText(value: number, type: ValueType): Printed {
  if (type === 'u32') return atom(`${value >>> 0}u`);
  if (type === 'i32' || type === 'bool') {
    if (value === -(2 ** 31)) return atom('int(0x80000000u)');
    return value < 0 ? { text: String(value), level: 14 } : atom(String(value));
  }
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  const isShort = type === 'f32' || Math.fround(size) === size;
  let text = Number.isNaN(value) ? 'NAN' : size === Number.POSITIVE_INFINITY ? 'INFINITY' : String(size);
  if (/^[\d.]+$/.test(text) && !text.includes('.')) text += '.0';
  if (/^\d/.test(text)) text += isShort ? 'f' : '';
  // A number without a suffix would be a float.
  if (!isShort) {
    const bits = new BigUint64Array(Float64Array.of(size).buffer)[0]!;
    text = `as_type<double>(0x${bits.toString(16)}ul)`;
  } else if (type === 'f64') text = `double(${text})`;
  return sign === '' ? atom(text) : { text: `-${text}`, level: 14 };
}
