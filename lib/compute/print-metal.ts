import { quotedName } from '../kernel/tokens.ts';
import { preludeOf } from './mathematics.ts';
import { MetalExpressions, metalTypes } from './metal-expressions.ts';
import { indented, wrapped } from './printed.ts';
import { isSimple } from './statements.ts';
import type { Instance, NumbersInside, Program, Statement, Variable } from './tree.ts';

/** Metal's words for the positions that a text names: the parameter, its attribute, and the component. */
const builtIn: { readonly [name: string]: readonly [parameter: string, attribute: string] } = {
  position: ['position', 'thread_position_in_grid'],
  gridSize: ['gridSize', 'threads_per_grid'],
  inGroup: ['inGroup', 'thread_position_in_threadgroup'],
  groupAt: ['groupAt', 'threadgroup_position_in_grid'],
  groupSize: ['groupSize', 'threads_per_threadgroup'],
};

const placeOf: { readonly [place: string]: readonly [parameter: string, component: string] } = {
  ...{ x: ['position', 'x'], y: ['position', 'y'], z: ['position', 'z'] },
  ...{ width: ['gridSize', 'x'], height: ['gridSize', 'y'], depth: ['gridSize', 'z'] },
  ...{ localX: ['inGroup', 'x'], localY: ['inGroup', 'y'], localZ: ['inGroup', 'z'] },
  ...{ groupX: ['groupAt', 'x'], groupY: ['groupAt', 'y'], groupZ: ['groupAt', 'z'] },
  ...{ groupWidth: ['groupSize', 'x'], groupHeight: ['groupSize', 'y'], groupDepth: ['groupSize', 'z'] },
};

/** The arrays whose length a text asks for, in the order of its arguments; each is one more argument. */
export function lengthsOf(program: Program): NumbersInside[] {
  const arrays = program.parameters.flatMap(({ inside }) => (inside.kind === 'numbers' ? [inside] : []));
  return arrays.filter(({ root }) => root.lengthName !== undefined);
}

/**
 * A kernel as a text in Metal Shading Language. With `lines`, for check mode, messages name the lines of the user's
 * texts, and indices keep their sign.
 */
export function metalText(program: Program, lines: boolean): string {
  const printer = new MetalPrinter(lines);
  const own = program.instances.flatMap((instance) => printer.instance(instance));
  const body = printer.kernel(program);
  const prelude = [...printer.expressions.needed].sort().map((each) => {
    const [name, type] = each.split(' ') as [string, 'float' | 'double'];
    return `${preludeOf(name, type)}\n`;
  });
  return `${[
    '#include <metal_stdlib>',
    'using namespace metal;',
    '',
    '#pragma METAL fp math_mode(safe)',
    '#pragma METAL fp contract(off)',
    '',
    ...new Set(prelude),
    ...own,
    ...body,
  ].join('\n')}\n`;
}

class MetalPrinter {
  readonly expressions: MetalExpressions;
  readonly #lines: boolean;
  #path = '';

  constructor(lines: boolean) {
    this.#lines = lines;
    this.expressions = new MetalExpressions(lines);
  }

  instance({ name, path, type, parameters, body }: Instance): string[] {
    this.#path = path;
    const list = parameters.map((each) => {
      if (each.kind === 'variable') return `${metalTypes[each.type!]} ${each.name}`;
      const space = each.space === 'own' ? 'thread' : each.space === 'shared' ? 'threadgroup' : 'device';
      return `${space} ${each.isWritten ? '' : 'const '}${elementText(each)}* ${each.name}`;
    });
    const head = wrapped(`static ${metalTypes[type]} ${name}(`, list, ') {');
    return [head, ...indented(this.#statements(body)), '}', ''];
  }

  kernel(program: Program): string[] {
    const { name, path, parameters, places, shared, body } = program;
    this.#path = path;
    const list = parameters.map(({ inside }, i) => {
      const at = `[[buffer(${i})]]`;
      if (inside.kind === 'variable') return `constant ${metalTypes[inside.type!]}& ${inside.name} ${at}`;
      return `device ${inside.isWritten ? '' : 'const '}${elementText(inside)}* ${inside.name} ${at}`;
    });
    lengthsOf(program).forEach(({ root }, i) => {
      list.push(`constant int& ${root.lengthName} [[buffer(${parameters.length + i})]]`);
    });
    const needed = new Set([...places.keys()].map((place) => placeOf[place]![0]));
    for (const [word, attribute] of Object.values(builtIn))
      if (needed.has(word)) list.push(`uint3 ${word} [[${attribute}]]`);
    const lines = [
      ...[...places].map(([place, variable]) => {
        const [word, component] = placeOf[place]!;
        return `const int ${variable.name} = int(${word}.${component});`;
      }),
      ...shared.map((numbers) => `threadgroup ${elementText(numbers)} ${numbers.name}[${numbers.length}];`),
      ...this.#statements(body),
    ];
    return [wrapped(`kernel void ${name}(`, list, ') {'), ...indented(lines), '}'];
  }

  #statements(all: readonly Statement[]): string[] {
    return all.flatMap((each) => {
      const lines = this.#statement(each);
      return this.#lines && lines.length > 0 ? [`#line ${each.line} ${quotedName(this.#path)}`, ...lines] : lines;
    });
  }

  #block(head: string, body: readonly Statement[], tail = '}'): string[] {
    return [head === '' ? '{' : `${head} {`, ...indented(this.#statements(body)), tail];
  }

  #statement(statement: Statement): string[] {
    const { expressions } = this;
    switch (statement.op) {
      case 'declare': {
        const { variable, value } = statement;
        return [
          `${declared(variable)} = ${value === undefined ? `${metalTypes[variable.type!]}(0)` : expressions.text(value)};`,
        ];
      }
      case 'array': {
        const { name, element, length, space } = statement.numbers;
        return space === 'own' ? [`${metalTypes[element]} ${name}[${length}] = {};`] : [];
      }
      case 'assign':
      case 'store':
      case 'evaluate':
        return [`${this.#effect(statement, false)};`];
      case 'block':
        return this.#block('', statement.body);
      case 'if': {
        const head = this.#block(`if (${expressions.text(statement.test)})`, statement.yes);
        return statement.no === undefined ? head : [...head.slice(0, -1), ...this.#block('} else', statement.no)];
      }
      case 'for':
        return this.#loop(statement);
      case 'while':
        return this.#block(`while (${expressions.text(statement.test)})`, statement.body);
      case 'do':
        return this.#block('do', statement.body, `} while (${expressions.text(statement.test)});`);
      case 'break':
      case 'continue':
        return [`${statement.op};`];
      case 'return':
        return [statement.value === undefined ? 'return;' : `return ${expressions.text(statement.value)};`];
      case 'barrier':
        return ['threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);'];
      case 'debugger':
      case 'log':
        return [];
    }
  }

  #effect(statement: Statement, isCounted: boolean): string {
    const { expressions } = this;
    if (statement.op === 'store')
      return expressions.store(statement.numbers, statement.index, statement.value).slice(0, -1);
    if (statement.op === 'evaluate') return expressions.text(statement.value);
    if (statement.op !== 'assign') return '';
    const { variable, value } = statement;
    if (isCounted && value.op === 'binary') return `${variable.name}${value.operator}${value.operator}`;
    return `${variable.name} = ${expressions.text(value)}`;
  }

  #loop({ begin, test, step, body, isCounted }: Statement & { readonly op: 'for' }): string[] {
    const { expressions } = this;
    const condition = test === undefined ? '' : ` ${expressions.text(test)}`;
    const steps = step.map((each) => this.#effect(each, isCounted)).join(', ');
    const head = (first: string) => `for (${first};${condition};${steps === '' ? '' : ` ${steps}`})`;
    const [only] = begin;
    if (begin.length === 0) return this.#block(head(''), body);
    if (begin.length === 1 && isSimple(only!))
      return this.#block(head(this.#statement(only!).join(' ').slice(0, -1)), body);
    return ['{', ...indented([...this.#statements(begin), ...this.#block(head(''), body)]), '}'];
  }
}

function declared({ name, type, isConstant }: Variable): string {
  return `${isConstant ? 'const ' : ''}${metalTypes[type!]} ${name}`;
}

function elementText({ element, root }: NumbersInside): string {
  return root.isAtomic ? `atomic_${metalTypes[element]}` : metalTypes[element]!;
}
