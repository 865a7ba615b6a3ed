import { JavaScriptExpressions } from './javascript-expressions.ts';
import { indented, wrapped } from './printed.ts';
import { isSimple } from './statements.ts';
import type { Instance, Program, Statement } from './tree.ts';

/** The constructors of arrays that a text makes. */
const arrays: { readonly [element: string]: string } = {
  f32: 'Float32Array',
  f64: 'Float64Array',
  i32: 'Int32Array',
  u32: 'Uint32Array',
  u8: 'Uint8Array',
};

/** What a printed text takes from the runtime (javascript-runtime.ts). */
const runtimeNames: readonly string[] = [
  ...['toInt', 'toUint', 'fma', 'inside', 'atomicAdd', 'atomicSub', 'atomicMin', 'atomicMax', 'atomicAnd', 'atomicOr'],
  ...['atomicXor', 'atomicExchange'],
];

/**
 * The body of a function of `runtime` that returns the kernel: a function of its arguments, its shared arrays and the
 * thread. A kernel with barriers is a generator, which yields the line of each.
 */
export function javaScriptText(program: Program, check: boolean): string {
  const printer = new JavaScriptPrinter(check);
  return `${[
    "'use strict';",
    'const { fround, imul } = Math;',
    wrapped('const { ', runtimeNames, ' } = runtime;'),
    '',
    ...program.instances.flatMap((instance) => printer.instance(instance)),
    ...printer.kernel(program),
  ].join('\n')}\n`;
}

class JavaScriptPrinter {
  readonly #expressions: JavaScriptExpressions;

  constructor(check: boolean) {
    this.#expressions = new JavaScriptExpressions(check);
  }

  instance({ name, path, parameters, body }: Instance): string[] {
    this.#expressions.path = path;
    const list = parameters.map((each) => each.name);
    return [wrapped(`function ${name}(`, list, ') {'), ...indented(this.#statements(body)), '}', ''];
  }

  kernel({ name, path, parameters, places, shared, body, waits }: Program): string[] {
    this.#expressions.path = path;
    const list = [...parameters.map(({ inside }) => inside.name), ...shared.map((each) => each.name), 'threadAt'];
    const names = [...places].map(([place, { name: own }]) => (place === own ? own : `${place}: ${own}`));
    const head = names.length === 0 ? [] : [`const { ${names.join(', ')} } = threadAt;`];
    const inner = indented([...head, ...this.#statements(body)]);
    return [wrapped(`return function${waits ? '*' : ''} ${name}(`, list, ') {'), ...inner, '};'];
  }

  #statements(all: readonly Statement[]): string[] {
    return all.flatMap((each) => this.#statement(each));
  }

  #block(head: string, body: readonly Statement[], tail = '}'): string[] {
    return [head === '' ? '{' : `${head} {`, ...indented(this.#statements(body)), tail];
  }

  #statement(statement: Statement): string[] {
    const expressions = this.#expressions;
    switch (statement.op) {
      case 'declare': {
        const { variable, value } = statement;
        const empty = variable.type === 'bool' ? 'false' : '0';
        return [
          `${variable.isConstant ? 'const' : 'let'} ${variable.name} = ${value === undefined ? empty : expressions.text(value)};`,
        ];
      }
      case 'array': {
        const { name, element, length, space } = statement.numbers;
        return space === 'own' ? [`const ${name} = new ${arrays[element]}(${length});`] : [];
      }
      case 'assign':
      case 'store':
      case 'evaluate':
        return [`${this.#effect(statement)};`];
      case 'block':
        return this.#block('', statement.body);
      case 'if': {
        const head = this.#block(`if (${expressions.text(statement.test)})`, statement.yes);
        return statement.no === undefined ? head : [...head.slice(0, -1), ...this.#block('} else', statement.no)];
      }
      case 'for': {
        const { begin, test, step, body } = statement;
        const condition = test === undefined ? '' : ` ${expressions.text(test)}`;
        const steps = step.map((each) => this.#effect(each)).join(', ');
        const loop = this.#block(`for (;${condition};${steps === '' ? '' : ` ${steps}`})`, body);
        const [only] = begin;
        if (only === undefined) return loop;
        if (begin.length > 1 || !isSimple(only)) return ['{', ...indented([...this.#statements(begin), ...loop]), '}'];
        return [loop[0]!.replace('for (;', () => `for (${this.#statement(only).join(' ')}`), ...loop.slice(1)];
      }
      case 'while':
        return this.#block(`while (${expressions.text(statement.test)})`, statement.body);
      case 'do':
        return this.#block('do', statement.body, `} while (${expressions.text(statement.test)});`);
      case 'return':
        return [statement.value === undefined ? 'return;' : `return ${expressions.text(statement.value)};`];
      case 'barrier':
        return [`yield ${statement.line};`];
      case 'log': {
        const all = statement.values.map((each) =>
          typeof each === 'string' ? JSON.stringify(each) : expressions.text(each),
        );
        return [`console.log(${all.join(', ')});`];
      }
      case 'break':
      case 'continue':
      case 'debugger':
        return [`${statement.op};`];
    }
  }

  #effect(statement: Statement): string {
    const expressions = this.#expressions;
    if (statement.op === 'evaluate') return expressions.text(statement.value);
    if (statement.op === 'assign') return `${statement.variable.name} = ${expressions.text(statement.value)}`;
    if (statement.op !== 'store') return '';
    const { numbers, index, value, line } = statement;
    return `${expressions.element(numbers, index, line)} = ${expressions.text(value)}`;
  }
}
