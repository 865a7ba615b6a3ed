import type { ArrowFunctionExpression, Function as FunctionNode, Node, Pattern } from 'acorn';
import type { Uses } from './compute-options.ts';
import { settledType } from './conversion.ts';
import type { Descriptor } from './descriptor.ts';
import { expression } from './expressions.ts';
import { type Parsed, parsed } from './parse.ts';
import { type Context, printedName, Scope } from './scope.ts';
import type { SourceText } from './source-text.ts';
import { endsInReturn, statements } from './statements.ts';
import { places, threadFunctions } from './thread.ts';
import type { Instance, NumbersInside, Program, ProgramParameter, Statement, ValueType, Variable } from './tree.ts';

/** Rounds in which types grow; each local grows at most five times. */
const mostRounds = 1000;

/** The types of a kernel's text. Throws `ERR_KERNEL_COMPILE` with the place for what a kernel can't have. */
export function programOf(
  name: string,
  descriptor: Descriptor,
  { source, node }: Parsed,
  uses: Uses,
  functions: ReadonlyMap<string, Parsed>,
): Program {
  return new Typing(uses, functions).kernel(name, descriptor, source, node);
}

class Typing {
  readonly #own: ReadonlyMap<string, unknown>;
  readonly #parsed: Map<string, Parsed>;
  readonly #instances: Map<string, Instance> = new Map();
  readonly #active: Set<string> = new Set();
  readonly #arrays: Map<NumbersInside['root'], number> = new Map();
  readonly #taken: Set<string> = new Set();
  readonly #notes: { readonly what: 'barrier' | 'debug'; readonly line: number }[] = [];
  readonly #shared: NumbersInside[] = [];
  readonly #places: Map<string, Variable> = new Map();

  constructor(uses: Uses, functions: ReadonlyMap<string, Parsed>) {
    this.#parsed = new Map(functions);
    const known = [...functions.keys()].map((name) => [name, () => 0] as const);
    this.#own = new Map<string, unknown>([...Object.entries(uses), ...known]);
  }

  kernel(
    name: string,
    descriptor: Descriptor,
    source: SourceText,
    node: FunctionNode | ArrowFunctionExpression,
  ): Program {
    const outer = new Scope();
    const printed = outer.printed(name);
    this.#taken.add(printed);
    const parameters = Object.entries(descriptor).map(([given, type]): ProgramParameter => {
      const own = outer.printed(given);
      if ('scalar' in type) {
        const scalar = type.scalar as ValueType;
        return { given, inside: { kind: 'variable', name: own, type: scalar, isConstant: true } };
      }
      const numbers = { kind: 'numbers', name: own, element: type.element, space: 'device', length: 0 } as const;
      const root = { isAtomic: false, lengthName: undefined };
      return { given, inside: { ...numbers, isWritten: type.access === 'written', root } };
    });
    // Names of positions are the same in each text, unless an argument has them.
    for (const place of places)
      this.#places.set(place, { kind: 'variable', name: outer.printed(place), type: 'i32', isConstant: true });
    const used = new Set<string>();
    const kernelScope = (): Scope => {
      const scope = new Scope(outer);
      this.#parameters(source, node, scope, new Map(parameters.map(({ given, inside }) => [given, inside])), used);
      return scope;
    };
    // Reserved before a local has the name: a text may ask for a length behind one.
    const lengthNames = new Map(
      parameters.flatMap(({ inside }) =>
        inside.kind === 'numbers' ? [[inside.root, outer.printed(`${inside.name}_length`)] as const] : [],
      ),
    );
    const lengthOf = (_: Node, { root }: NumbersInside) => {
      root.lengthName = lengthNames.get(root);
    };
    const begin = () => {
      this.#shared.length = 0;
      this.#notes.length = 0;
      this.#instances.clear();
      this.#taken.clear();
      this.#taken.add(printed);
    };
    const { body } = this.#typed(source, node, kernelScope, { lengthOf, used, begin, isKernel: true, isDouble: false });
    const debug = this.#notes.filter(({ what }) => what === 'debug').map(({ line }) => line);
    return {
      ...{ name: printed, path: source.name, parameters, body, shared: [...this.#shared] },
      places: new Map([...this.#places].filter(([place]) => used.has(place))),
      instances: [...this.#instances.values()],
      waits: this.#notes.some(({ what }) => what === 'barrier'),
      debugLines: [...new Set(debug)],
    };
  }

  /** Gives the names of a kernel's two parameters their meanings. */
  #parameters(
    source: SourceText,
    node: FunctionNode | ArrowFunctionExpression,
    scope: Scope,
    members: ReadonlyMap<string, Variable | NumbersInside>,
    used: Set<string>,
  ): void {
    const [first, second, third] = node.params;
    if (third) throw source.refusal(third, 'A kernel has two parameters: its arguments, and what the thread knows');
    for (const { pattern, name } of namesIn(source, first)) {
      if (name === undefined) scope.add(pattern.name, { kind: 'arguments', members });
      else {
        const meaning = members.get(name);
        const there = [...members.keys()].join(', ');
        if (meaning === undefined)
          throw source.refusal(pattern, `There is no argument (${name}); there are (${there})`);
        scope.add(pattern.name, meaning);
      }
    }
    for (const { pattern, name } of namesIn(source, second)) {
      if (name === undefined) scope.add(pattern.name, { kind: 'thread' });
      else if (places.includes(name)) {
        used.add(name);
        scope.add(pattern.name, this.#places.get(name)!);
      } else if (threadFunctions.includes(name)) scope.add(pattern.name, { kind: 'thread function', name });
      else {
        const there = [...places, ...threadFunctions].join(', ');
        throw source.refusal(pattern, `A thread has nothing called (${name}); there are (${there})`);
      }
    }
  }

  /** Finds the types of a function's locals: in rounds, until they grow no more. */
  #typed(
    source: SourceText,
    node: FunctionNode | ArrowFunctionExpression,
    scopeOf: () => Scope,
    how: {
      readonly lengthOf: Context['lengthOf'];
      readonly used: Set<string>;
      readonly begin: () => void;
      readonly isKernel: boolean;
      /** True if locals that only numbers with a fraction were assigned to are f64. */
      readonly isDouble: boolean;
    },
  ): { readonly body: Statement[]; readonly result: Variable; readonly hasEffect: boolean } {
    const result: Variable = { kind: 'variable', name: 'result', type: undefined, isConstant: false };
    const locals: Context['locals'] = new Map();
    let hasEffect = false;
    const round = (strict: boolean): { readonly body: Statement[]; readonly changed: boolean } => {
      how.begin();
      const scope = scopeOf();
      const context: Context = {
        ...{ source, own: this.#own, locals, strict, changed: false, result },
        kernelScope: how.isKernel ? scope : undefined,
        lengthOf: how.lengthOf,
        place: (name) => {
          how.used.add(name);
          return this.#places.get(name)!;
        },
        value: (inner, each, alone) => expression(context, inner, each as Parameters<typeof expression>[2], alone),
        call: (at, name, values) => this.#instance(source, at, name, values, how.used),
        effect: () => {
          hasEffect = true;
        },
        share: (numbers) => this.#shared.push(numbers),
        note: (what, at) => {
          if (!how.isKernel)
            throw source.refusal(
              at,
              `The function of \`device.compute\` alone has ${what === 'debug' ? 'console.log and debugger' : what}`,
            );
          this.#notes.push({ what, line: source.lineOf(at) });
        },
      };
      if (node.body.type === 'BlockStatement')
        return { body: statements(context, scope, node.body.body), changed: context.changed };
      const line = source.lineOf(node.body);
      if (how.isKernel) throw source.refusal(node.body, 'A kernel is a block of statements: write { ... } around it');
      // An arrow's expression is what it returns.
      const argument = node.body;
      const only = { type: 'ReturnStatement', argument, start: argument.start, end: argument.end } as unknown as Node;
      const body = statements(context, scope, [only]);
      return { body: body.length > 0 ? body : [{ op: 'return', line, value: undefined }], changed: context.changed };
    };
    for (let rounds = 0; rounds < mostRounds; rounds++) {
      if (round(false).changed) continue;
      // What only literals were assigned to has the type of a literal by itself, and others may follow.
      const weak = [...locals.values(), result].filter((each) => 'type' in each) as Variable[];
      const open = weak.filter(({ type }) => type === 'whole' || type === 'fraction');
      if (open.length === 0) break;
      for (const variable of open)
        variable.type = variable.type === 'fraction' && how.isDouble ? 'f64' : settledType(variable.type!);
    }
    hasEffect = false;
    const { body } = round(true);
    for (const [place, local] of locals)
      if (local.kind === 'variable' && local.type === undefined)
        throw source.refusal(place, `(${source.wordsOf(place)}) is never given a value`);
    return { body, result, hasEffect };
  }

  /** The function of `uses` for arguments of these types; it is made where it is not there. */
  #instance(
    caller: SourceText,
    at: Node,
    name: string,
    values: readonly (ValueType | NumbersInside)[],
    used: Set<string>,
  ): Instance {
    const key = `${name}(${values.map((value) => this.#keyOf(value)).join()})`;
    const known = this.#instances.get(key);
    if (known !== undefined) return known;
    if (this.#active.has(key)) throw caller.refusal(at, `(${name}) calls itself, which kernels cannot`);
    const own = this.#parsed.get(name) ?? parsed(name, this.#own.get(name));
    this.#parsed.set(name, own);
    const { source, node } = own;
    if (node.params.length !== values.length)
      throw caller.refusal(at, `(${name}) takes (${node.params.length}) arguments, not (${values.length})`);
    this.#active.add(key);
    try {
      const outer = new Scope();
      const parameters = node.params.map((pattern, i) => {
        if (pattern.type !== 'Identifier')
          throw source.refusal(pattern, 'Parameters of a function that a kernel calls are names alone');
        const value = values[i]!;
        const printed = outer.printed(pattern.name);
        const inside: Variable | NumbersInside =
          typeof value === 'string'
            ? { kind: 'variable', name: printed, type: value, isConstant: true }
            : { ...value, name: printed };
        outer.add(pattern.name, inside);
        return inside;
      });
      const lengthOf = (each: Node) => {
        throw source.refusal(each, 'A function of `uses` does not know the length of an argument: give it the length');
      };
      const how = { lengthOf, used, begin: () => {}, isKernel: false, isDouble: own.isDouble === true };
      const { body, result, hasEffect } = this.#typed(source, node, () => new Scope(outer), how);
      if (result.type !== undefined && !endsInReturn(body))
        throw source.refusal(node, `(${name}) does not return a value on every way`);
      own.requireResult?.(result.type);
      const printed = printedName(name, (each) => this.#taken.has(each));
      this.#taken.add(printed);
      const type = result.type === undefined ? 'void' : settledType(result.type);
      const instance: Instance = { name: printed, path: source.name, parameters, type, body, hasEffect };
      this.#instances.set(key, instance);
      return instance;
    } finally {
      this.#active.delete(key);
    }
  }

  #keyOf(value: ValueType | NumbersInside): string {
    if (typeof value === 'string') return value;
    const known = this.#arrays.get(value.root) ?? this.#arrays.size;
    this.#arrays.set(value.root, known);
    return `array ${known}`;
  }
}

/** The names of a parameter: one for all, or those that { } takes apart, with what they stand for. */
function namesIn(
  source: SourceText,
  pattern: Pattern | undefined,
): { readonly pattern: Node & { readonly name: string }; readonly name: string | undefined }[] {
  if (pattern === undefined) return [];
  if (pattern.type === 'Identifier') return [{ pattern, name: undefined }];
  if (pattern.type !== 'ObjectPattern')
    throw source.refusal(pattern, 'A parameter of a kernel is a name, or { names }');
  return pattern.properties.map((property) => {
    if (property.type === 'RestElement')
      throw source.refusal(property, 'A kernel has no rest of its arguments: name each');
    const { key, value } = property;
    if (value.type !== 'Identifier' || property.computed || key.type !== 'Identifier')
      throw source.refusal(property, 'A kernel takes names out of its parameters, without defaults');
    return { pattern: value, name: key.name };
  });
}
