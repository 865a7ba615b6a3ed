import type { Range, Source } from '../declarations.ts';
import { reachable } from '../reachable.ts';
import type { Parameter, Signature } from '../signature.ts';
import { type Edits, written } from '../tokens.ts';
import { changing, isAssigned, isChanged, pure } from './changes.ts';
import { type Declared, type Item, isBarrier, itemsIn } from './level.ts';
import { places } from './places.ts';
import { threadgroupVariables } from './threadgroup-variables.ts';

// A kernel whose threads wait for each other at barriers of its own body alone, each under conditions that are the same
// for all threads, needs no fibers: between two barriers a loop runs over the threads of the group, which a compiler
// makes vectors of. A variable that lives across a barrier becomes an array with an element for each thread, unless it
// is the same for all threads, or can be computed again.

/** Positions that are the same for all threads of a group. */
const ofGroup: ReadonlySet<string> = new Set([
  ...['threads_per_grid', 'threadgroup_position_in_grid', 'threads_per_threadgroup', 'threadgroups_per_grid'],
  ...['dispatch_threads_per_threadgroup', 'threads_per_simdgroup', 'thread_execution_width', 'grid_origin'],
  ...['simdgroups_per_threadgroup', 'dispatch_simdgroups_per_threadgroup', 'quadgroups_per_threadgroup', 'grid_size'],
]);

/** The most tokens of a body, since each loop names all variables before it. */
const longestBody = 4000;
/** Elements of an array of each thread's. */
const mostElements = 256n;
/** Marks of an expression that reads no memory and changes nothing. */
const plainMark = /^(?:[-+*/%&|^!~?:.,<>()]|::|<<|>>|<=|>=|==|!=|&&|\|\|)$/;

/** How a variable is known in a loop over the threads. */
type Known = 'uniform' | 'again' | 'stored';

interface Variable {
  readonly declared: Declared;
  readonly known: Known;
  /** Names it among the arrays. */
  readonly number: number;
}

/**
 * The function that runs a group of a kernel by loops over its threads, as a text behind the kernel's own; undefined if
 * the kernel is not of this kind. `edits` are those of the kernel's text.
 */
export function groupLoops(kernel: Signature, which: number, edits: Edits): string | undefined {
  const { source, declaration } = kernel;
  const { body, templateParameters } = declaration;
  if (body === undefined || templateParameters.length > 0) return undefined;
  if (body[1] - body[0] > longestBody || !waitsInItself(kernel)) return undefined;
  const items = itemsIn(source, body, false);
  if (items === undefined) return undefined;
  return new GroupLoops(kernel, which, edits).text(items);
}

/** True if nothing but the kernel's own body makes threads wait, and that at barriers alone. */
function waitsInItself({ source, roots, declaration }: Signature): boolean {
  const [first, last] = declaration.body!;
  for (const { begin, end } of reachable(source, roots))
    for (let at = begin; at < end; at++) {
      if (source.isAttribute(at)) at = source.close[at]!;
      else if (isBarrier(source, at)) {
        if (at < first || at > last) return false;
      } else if (/^(?:simd_|simdgroup|quad_|make_filled_simdgroup)/.test(source.text(at))) return false;
    }
  return true;
}

class GroupLoops {
  readonly #kernel: Signature;
  readonly #source: Source;
  readonly #which: number;
  readonly #edits: Edits;
  readonly #shared: ReadonlySet<number>;
  /** Variables that later loops know, in the order of their declaration. */
  #variables: Variable[] = [];
  #arrays = 0;
  #hasReturn = false;
  #fails = false;

  constructor(kernel: Signature, which: number, edits: Edits) {
    this.#kernel = kernel;
    this.#source = kernel.source;
    this.#which = which;
    this.#edits = edits;
    const found = threadgroupVariables(kernel.source, kernel.declaration.body!);
    this.#shared = new Set(found.map(({ statement }) => statement[0]));
  }

  text(items: readonly Item[]): string | undefined {
    const { parameters, declaration } = this.#kernel;
    const [first, last] = declaration.body!;
    const positions = parameters.filter(({ kind }) => kind === 'place');
    if (positions.some(({ name }) => isChanged(this.#source, name, first, last))) return undefined;
    if (parameters.some(({ name, isPointer }) => isPointer && isAssigned(this.#source, name, first, last)))
      return undefined;
    this.#hasReturn = this.#source.hasWord(first, last, 'return');
    const level = this.#level(items, [first, last]);
    if (this.#fails) return undefined;
    const named = (each: Parameter) => `const auto ${each.name} = covarium_value${parameters.indexOf(each)};\n`;
    const whole = positions.filter(({ attribute }) => ofGroup.has(attribute));
    const { scope } = declaration;
    const space = scope === '' ? '' : `namespace ${scope.slice(0, -2)} {\n`;
    return `${space}static void covarium_group_${this.#which}(void* const* covarium_slots, const covarium::GridSize& covarium_grid, const covarium::ThreadPlace& covarium_place) {
covarium::reachOwnMemory();
const uint32_t covarium_sizex = covarium_place.groupSize[0], covarium_sizey = covarium_place.groupSize[1], covarium_sizez = covarium_place.groupSize[2];
using covarium_arguments = covarium::Arguments<std::remove_const_t<decltype(covarium_unit::covarium_function_${this.#which})>>;
${whole.map((each) => this.#valueOf(each)).join('')}${this.#hasReturn ? aliveText : ''}{
${whole.map(named).join('')}${this.#slots()}${level}
}
}
${scope === '' ? '' : '}\n'}`;
  }

  /** The value of a position, by names that no text of a user's has. */
  #valueOf(parameter: Parameter): string {
    const i = this.#kernel.parameters.indexOf(parameter);
    const place = places[parameter.attribute]!.replace(/\bplace\.(inGroup|index)\b/g, 'covarium_$1').replace(
      /\b(?:grid|place)\b|\b[xyz]\b/g,
      'covarium_$&',
    );
    return `const auto covarium_value${i} = covarium::place<covarium_arguments::At<${i}>>(${place});\n`;
  }

  #slots(): string {
    const { parameters } = this.#kernel;
    const slots = parameters.filter(({ kind }) => kind !== 'place' && kind !== 'absent');
    return parameters
      .map((each, i) => {
        if (each.kind === 'place') return '';
        const type = `covarium_arguments::At<${i}>`;
        if (each.kind === 'absent')
          return `auto&& ${each.name} = ${each.isPointer ? `${type}(nullptr)` : `covarium::nothing<${type}>()`};\n`;
        const isPlain = each.kind === 'constant' && !each.isPointer && each.layout?.count !== undefined;
        const value = `covarium::argument<${type}>(covarium_slots, ${slots.indexOf(each)})`;
        return `${isPlain ? 'const auto' : 'auto&&'} ${each.name} = ${value};\n`;
      })
      .join('');
  }

  /** The text of a block: loops over the threads, and between them what is the same for all. */
  #level(items: readonly Item[], [begin, end]: Range): string {
    const outer = this.#variables;
    this.#variables = [...outer];
    const parts: string[] = [];
    let segment: (Item & { kind: 'statement' })[] = [];
    const flush = (until: number) => {
      if (segment.length > 0) parts.push(this.#segment(segment, until, [begin, end]));
      segment = [];
    };
    for (const item of items) {
      if (item.kind === 'statement' && !this.#shared.has(item.range[0])) {
        segment.push(item);
        continue;
      }
      flush(item.range[0]);
      if (item.kind === 'statement') parts.push(this.#written(item.range));
      else if (item.kind === 'block') parts.push(`{\n${this.#level(item.body, item.range)}\n}\n`);
      else if (item.kind === 'loop') parts.push(this.#loop(item));
    }
    flush(end);
    this.#variables = outer;
    return parts.join('\n');
  }

  #loop({ head, body, range }: Item & { kind: 'loop' }): string {
    const source = this.#source;
    const [open, close] = head;
    const outer = this.#variables;
    const marks: number[] = [];
    for (let at = open + 1; at < close; at = Math.max(at, source.close[at]!) + 1)
      if (source.text(at) === ';') marks.push(at);
    const [first, second] = marks as [number, number];
    if (marks.length !== 2) return this.#fail();
    const declared = declaredOf(source, [open + 1, first + 1]);
    const [counter] = declared;
    const isCounted =
      counter?.value !== undefined &&
      declared.length === 1 &&
      this.#isPlain(counter.value, 'uniform') &&
      !isChanged(this.#source, counter.name, close + 1, range[1]);
    if (!isCounted) return this.#fail();
    this.#variables = [...outer, { declared: counter, known: 'uniform', number: -1 }];
    if (!this.#isPlain([first + 1, second], 'uniform') || !this.#isPlain([second + 1, close], 'uniform', true))
      return this.#fail();
    // A barrier is a place to stop at, also where the loop counts.
    const poll = 'if (covarium::cancelled()) covarium::leave();';
    const text = `${this.#written([range[0], close + 1])} {\n${poll}\n${this.#level(body, [close + 1, range[1]])}\n}\n`;
    this.#variables = outer;
    return text;
  }

  #fail(): string {
    this.#fails = true;
    return '';
  }

  /** Statements without a barrier: a loop over the threads. `until` is where the next thing begins. */
  #segment(statements: readonly (Item & { kind: 'statement' })[], until: number, block: Range): string {
    const source = this.#source;
    const before = this.#variables.slice();
    const above: string[] = [];
    const inside: string[] = [];
    for (const { range, declared } of statements) {
      if (/^(?:using|typedef|struct|union|enum|class|static_assert)$/.test(source.text(range[0]))) {
        above.push(this.#written(range));
        continue;
      }
      if (declared.some(({ name }) => this.#isHidden(name))) return this.#fail();
      const isLater = declared.some(({ name }) => this.#isNamed(name, until, block[1]));
      if (declared.length > 0 && (isLater || declared.some(({ isConstexpr }) => isConstexpr))) {
        const known = declared.map((each) => this.#knownAs(each));
        if (known.every((each) => each === 'uniform')) {
          above.push(this.#written(range));
          this.#variables.push(...declared.map((each) => ({ declared: each, known: 'uniform' as const, number: -1 })));
          continue;
        }
        for (const [i, each] of declared.entries()) {
          if (known[i] === 'stored' && !isStorable(source, each)) return this.#fail();
          const number = this.#arrays++;
          const variable: Variable = { declared: each, known: known[i] === 'uniform' ? 'again' : known[i]!, number };
          if (variable.known === 'stored') {
            above.push(
              `static thread_local ${this.#type(each)} covarium_all${number}[1024]${this.#dimensions(each)};\n`,
            );
            inside.push(this.#first(variable));
          } else inside.push(this.#again(variable));
          this.#variables.push(variable);
        }
        continue;
      }
      inside.push(this.#statement(range));
    }
    if (inside.length === 0) return above.join('');
    const positions = this.#kernel.parameters.filter(
      ({ kind, attribute }) => kind === 'place' && !ofGroup.has(attribute),
    );
    const values = positions.map((each) => this.#valueOf(each)).join('');
    const names = positions
      .map((each) => `const auto ${each.name} = covarium_value${this.#kernel.parameters.indexOf(each)};\n`)
      .join('');
    const known = before
      .map((each) => {
        if (each.known === 'stored')
          return `auto& ${each.declared.name} = covarium_all${each.number}[covarium_lane];\n`;
        return each.known === 'again' ? this.#again(each) : '';
      })
      .join('');
    const leaves = statements.some(({ range }) => source.hasWord(range[0], range[1], 'return'));
    const own = `${names}${known}${inside.join('')}`;
    return `${above.join('')}
covarium_each_lane {
${positionText}${this.#hasReturn ? 'if (!covarium_alive[covarium_lane]) continue;\n' : ''}${values}${
  leaves ? `if ([&]() -> bool {\n${own}\nreturn false; }()) covarium_alive[covarium_lane] = false;` : `{\n${own}\n}`
}
}
`;
  }

  #statement(range: Range): string {
    return this.#written(range).replace(/\breturn(?=\s*;)/g, 'return true');
  }

  #written(range: Range): string {
    return written(this.#source.tokens, [range], this.#edits);
  }

  #type(declared: Declared): string {
    const { tokens } = this.#source;
    const [begin, end] = declared.type;
    const star = tokens.slice(begin, end).findLastIndex(({ text }) => text === '*');
    const kept: Range[] = [];
    for (let at = begin; at < end; at++) {
      const { text } = tokens[at]!;
      const isOwnConst = text === 'const' && at - begin > star;
      if (!isOwnConst && text !== 'static' && text !== 'constexpr') kept.push([at, at + 1]);
    }
    return `${written(tokens, kept, this.#edits)}\n`;
  }

  #dimensions({ rest: [begin, end] }: Declared): string {
    let last = begin;
    while (last < end && this.#source.text(last) === '[') last = this.#source.close[last]! + 1;
    return last === begin ? '' : this.#written([begin, last]);
  }

  /** The declaration of a variable that is stored. */
  #first({ declared, number }: Variable): string {
    const { name, rest } = declared;
    const dimensions = this.#dimensions(declared);
    const whole = this.#written(rest);
    const given = `auto& ${name} = covarium_all${number}[covarium_lane];\n`;
    if (whole.trim() === dimensions.trim()) return given;
    return `${this.#type(declared)} covarium_first${number}${whole};\n${given}covarium::keep(${name}, covarium_first${number});\n`;
  }

  /** The declaration of a variable that is computed in each loop. */
  #again({ declared: { type, rest, name } }: Variable): string {
    return `${this.#written(type)} ${name}${this.#written(rest)};\n`;
  }

  #knownAs(declared: Declared): Known {
    const { name, value, isConstexpr } = declared;
    const [begin, end] = this.#kernel.declaration.body!;
    if (isConstexpr) return 'uniform';
    if (value === undefined || isChanged(this.#source, name, begin, end, declared.nameAt)) return 'stored';
    if (this.#isPlain(value, 'uniform')) return 'uniform';
    return this.#isPlain(value, 'again') ? 'again' : 'stored';
  }

  /** True if an expression is of constants and of variables and positions that are known so, and reads no memory. */
  #isPlain([begin, end]: Range, known: 'uniform' | 'again', mayChange = false): boolean {
    for (let at = begin; at < end; at++) {
      const { kind, text } = this.#source.tokens[at]!;
      const before = this.#source.text(at - 1);
      // What a pointer points to is memory.
      if (text === '*' && (at === begin || (this.#source.tokens[at - 1]!.kind === 'mark' && before !== ')')))
        return false;
      if (kind === 'number' || (kind === 'mark' && (plainMark.test(text) || (mayChange && changing.test(text)))))
        continue;
      if (kind !== 'word') return false;
      if (before === '.' || pure.test(text) || this.#isKnown(text, known)) continue;
      return false;
    }
    return true;
  }

  #isKnown(name: string, known: 'uniform' | 'again'): boolean {
    const variable = this.#variables.findLast(({ declared }) => declared.name === name);
    if (variable !== undefined) return variable.known === 'uniform' || variable.known === known;
    const parameter = this.#kernel.parameters.find((each) => each.name === name);
    if (parameter !== undefined) {
      if (parameter.kind === 'place') return known === 'again' || ofGroup.has(parameter.attribute);
      // An address, or a constant.
      return parameter.isPointer || parameter.kind === 'constant';
    }
    return this.#source
      .named(name)
      .some(({ kind, body }) => kind === 'variable' || (kind === 'type' && body !== undefined));
  }

  /** True if the name is already one that loops know: two of a name would meet in one. */
  #isHidden(name: string): boolean {
    return (
      this.#variables.some(({ declared }) => declared.name === name) ||
      this.#kernel.parameters.some((parameter) => parameter.name === name)
    );
  }

  #isNamed(name: string, begin: number, end: number): boolean {
    return this.#source.hasWord(begin, end, name);
  }
}

const positionText =
  `const uint32_t covarium_x = covarium_place.group[0] * covarium_grid.groupThreads[0] + covarium_inGroup[0];
const uint32_t covarium_y = covarium_place.group[1] * covarium_grid.groupThreads[1] + covarium_inGroup[1];
const uint32_t covarium_z = covarium_place.group[2] * covarium_grid.groupThreads[2] + covarium_inGroup[2];
`
    .replaceAll(/covarium_inGroup\[(\d)\]/g, (_, axis) => ['covarium_lx', 'covarium_ly', 'covarium_lz'][Number(axis)]!)
    .concat(
      'const uint32_t covarium_inGroup[3] = {covarium_lx, covarium_ly, covarium_lz}, covarium_index = covarium_lane;\n',
    );

const aliveText = `static thread_local bool covarium_alive[1024];
covarium_each_lane { covarium_alive[covarium_lane] = true; }
`;

function declaredOf(source: Source, range: Range): readonly Declared[] {
  const item = itemsIn(source, [range[0] - 1, range[1]], false)?.[0];
  return item?.kind === 'statement' ? item.declared : [];
}

/** False for a reference, a type that is deduced, and an array of more elements than are worth their room. */
function isStorable(source: Source, { type: [begin, end], rest: [first, last] }: Declared): boolean {
  for (let at = begin; at < end; at++) if (/^(?:auto|decltype|&|volatile|static)$/.test(source.text(at))) return false;
  let elements = 1n;
  for (let at = first; at < last && source.text(at) === '['; at = source.close[at]! + 1)
    elements *= source.valueOf(at + 1, source.close[at]!) ?? mostElements + 1n;
  return elements <= mostElements;
}
