import type { Range, Source } from '../declarations.ts';
import type { Signature } from '../signature.ts';
import { changing, isChanged, pure } from './changes.ts';
import type { Declared } from './level.ts';

/** Positions that are the same for all threads of a group. */
export const ofGroup: ReadonlySet<string> = new Set([
  ...['threads_per_grid', 'threadgroup_position_in_grid', 'threads_per_threadgroup', 'threadgroups_per_grid'],
  ...['dispatch_threads_per_threadgroup', 'threads_per_simdgroup', 'thread_execution_width', 'grid_origin'],
  ...['simdgroups_per_threadgroup', 'dispatch_simdgroups_per_threadgroup', 'quadgroups_per_threadgroup', 'grid_size'],
]);

/** Elements of an array of each thread's. */
const mostElements = 256n;
/** Marks of an expression that reads no memory and changes nothing. */
const plainMark = /^(?:[-+*/%&|^!~?:.,<>()]|::|<<|>>|<=|>=|==|!=|&&|\|\|)$/;
/** What stands between the parentheses of a cast: words, arguments of a template, stars. */
const castType = /^[\w: ]+(?:<.*>)?[ *&]*$/;

/** How a variable is known in a loop over the threads. */
export type Known = 'uniform' | 'again' | 'stored';

export interface Variable {
  readonly declared: Declared;
  readonly known: Known;
  /** Names it among the arrays. */
  readonly number: number;
}

/** What loops over the threads of a group know of the variables of a kernel. */
export class KnownVariables {
  readonly #kernel: Signature;
  /** Those that later loops know, in the order of their declaration. */
  all: readonly Variable[] = [];

  constructor(kernel: Signature) {
    this.#kernel = kernel;
  }

  add(variable: Variable): void {
    this.all = [...this.all, variable];
  }

  /** How later loops know a variable. */
  knownAs(declared: Declared): Known {
    const { name, value, isConstexpr } = declared;
    const [begin, end] = this.#kernel.declaration.body!;
    if (isConstexpr) return 'uniform';
    if (value === undefined || isChanged(this.#kernel.source, name, begin, end, declared.nameAt)) return 'stored';
    if (this.#mayHaveOperators(declared)) return 'stored';
    if (this.isPlain(value, 'uniform')) return 'uniform';
    return this.isPlain(value, 'again') ? 'again' : 'stored';
  }

  /** True if the text has operators of its own, which may change their operands, and the type is not of numbers. */
  #mayHaveOperators({ type: [begin, end] }: Declared): boolean {
    const { source } = this.#kernel;
    const isPlain = source.tokens.slice(begin, end).every(({ kind, text }) => kind !== 'word' || pure.test(text));
    return !isPlain && source.hasWord(0, source.tokens.length, 'operator');
  }

  /** True if an expression is of constants and of variables and positions that are known so, and reads no memory. */
  isPlain([begin, end]: Range, known: 'uniform' | 'again', mayChange = false): boolean {
    for (let at = begin; at < end; at++) {
      const { kind, text } = this.#kernel.source.tokens[at]!;
      const before = this.#kernel.source.text(at - 1);
      // What a pointer points to is memory.
      if (text === '*' && (at === begin || this.#pointsBehind(at - 1))) return false;
      if (kind === 'number' || (kind === 'mark' && (plainMark.test(text) || (mayChange && changing.test(text)))))
        continue;
      if (kind !== 'word') return false;
      if (before === '.' || pure.test(text) || this.#isKnown(text, known)) continue;
      return false;
    }
    return true;
  }

  /** True if a star behind a token goes to memory: after a mark that ends no operand, and after a cast. */
  #pointsBehind(at: number): boolean {
    const { source } = this.#kernel;
    if (source.tokens[at]!.kind !== 'mark') return false;
    if (source.text(at) !== ')') return true;
    let open = at - 1;
    while (open > 0 && source.close[open] !== at) open--;
    const inner = source.tokens.slice(open + 1, at);
    const name = inner.length === 1 ? inner[0]!.text : '';
    if (this.isHidden(name) || source.named(name).some(({ kind }) => kind === 'variable')) return false;
    return inner[0]?.kind === 'word' && castType.test(inner.map(({ text }) => text).join(' '));
  }

  #isKnown(name: string, known: 'uniform' | 'again'): boolean {
    const variable = this.all.findLast(({ declared }) => declared.name === name);
    if (variable !== undefined) return variable.known === 'uniform' || variable.known === known;
    const parameter = this.#kernel.parameters.find((each) => each.name === name);
    if (parameter !== undefined) {
      if (parameter.kind === 'place') return known === 'again' || ofGroup.has(parameter.attribute);
      // An address, or a constant.
      return parameter.isPointer || parameter.kind === 'constant';
    }
    return (
      !this.#isLocal(name) &&
      this.#kernel.source
        .named(name)
        .some(({ kind, body }) => kind === 'variable' || (kind === 'type' && body !== undefined))
    );
  }

  /** True if the kernel may have a variable of this name, which hides what has the name outside. */
  #isLocal(name: string): boolean {
    const { source, declaration } = this.#kernel;
    const [begin, end] = declaration.body!;
    for (let at = begin; at < end; at++) {
      if (source.text(at) !== name) continue;
      if (changing.test(source.text(at + 1))) return true;
      const before = source.tokens[at - 1]!;
      if (before.kind === 'word' && !/^(?:return|case|else|do)$/.test(before.text)) return true;
      if (before.text === '>' && /^[({]$/.test(source.text(at + 1))) return true;
    }
    return false;
  }

  /** True if the name is already one that loops know: two of a name would meet in one. */
  isHidden(name: string): boolean {
    return (
      this.all.some(({ declared }) => declared.name === name) ||
      this.#kernel.parameters.some((parameter) => parameter.name === name)
    );
  }
}

/** False for a reference, a type that is deduced, and an array of more elements than are worth their room. */
export function isStorable(source: Source, { type: [begin, end], rest: [first, last] }: Declared): boolean {
  for (let at = begin; at < end; at++) if (/^(?:auto|decltype|&|volatile|static)$/.test(source.text(at))) return false;
  let elements = 1n;
  for (let at = first; at < last && source.text(at) === '['; at = source.close[at]! + 1)
    elements *= source.valueOf(at + 1, source.close[at]!) ?? mostElements + 1n;
  return elements <= mostElements;
}
