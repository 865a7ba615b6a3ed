import type { Range, Source } from '../declarations.ts';
import type { Parameter } from '../parameter.ts';
import { reachable } from '../reachable.ts';
import type { Signature } from '../signature.ts';
import { type Edits, written } from '../tokens.ts';
import { isAssigned, isChanged } from './changes.ts';
import { isStorable, KnownVariables, ofGroup, type Variable } from './known-variables.ts';
import {
  type Branch,
  type Declared,
  type Exchange,
  type Item,
  isBarrier,
  isOfLanes,
  itemsIn,
  type Statement,
} from './level.ts';
import { aliveText, places, positionText, threadArray } from './places.ts';
import { threadgroupVariables } from './threadgroup-variables.ts';

// A kernel whose threads wait for each other at barriers of its own body alone, each under conditions that are the same
// for all threads, needs no fibers: between two barriers a loop runs over the threads of the group, which a compiler
// makes vectors of. A variable that lives across a barrier becomes an array with an element for each thread, unless it
// is the same for all threads, or can be computed again.

/** The most tokens of a body, since each loop names all variables before it. */
const longestBody = 4000;

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

/** True if nothing but the kernel's own body makes threads wait. */
function waitsInItself({ source, roots, declaration }: Signature): boolean {
  const [first, last] = declaration.body!;
  for (const { begin, end } of reachable(source, roots))
    for (let at = begin; at < end; at++) {
      if (source.isAttribute(at)) at = source.close[at]!;
      else if ((isBarrier(source, at) || isOfLanes(source, at)) && (at < first || at > last)) return false;
    }
  return true;
}

class GroupLoops {
  readonly #kernel: Signature;
  readonly #source: Source;
  readonly #which: number;
  readonly #edits: Edits;
  /** The names of threadgroup variables, by where their statement begins. */
  readonly #shared: ReadonlyMap<number, readonly string[]>;
  readonly #known: KnownVariables;
  /** Exchanges that a loop before has prepared: what stands in their places. */
  readonly #exchanged: Map<number, { readonly end: number; readonly text: string }> = new Map();
  /** Arrays that say which threads are in the branches at hand, the innermost last. */
  #branches: string[] = [];
  #arrays = 0;
  #hasReturn = false;
  #fails = false;

  constructor(kernel: Signature, which: number, edits: Edits) {
    this.#kernel = kernel;
    this.#source = kernel.source;
    this.#known = new KnownVariables(kernel);
    this.#which = which;
    this.#edits = edits;
    const found = threadgroupVariables(kernel.source, kernel.declaration.body!);
    this.#shared = new Map(found.map(({ statement, names }) => [statement[0], names]));
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
    const whole = positions.filter(({ attribute }) => ofGroup.has(attribute));
    const { scope } = declaration;
    const space = scope === '' ? '' : `namespace ${scope.slice(0, -2)} {\n`;
    return `${space}static void covarium_group_${this.#which}(void* const* covarium_slots, const covarium::GridSize& covarium_grid, const covarium::ThreadPlace& covarium_place) {
covarium_group_sizes
using covarium_arguments = covarium::Arguments<std::remove_const_t<decltype(covarium_unit::covarium_function_${this.#which})>>;
${whole.map((each) => this.#valueOf(each)).join('')}${this.#hasReturn ? aliveText : ''}{
${whole.map((each) => this.#nameOf(each)).join('')}${this.#slots()}${level}
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

  #nameOf(position: Parameter): string {
    return `const auto ${position.name} = covarium_value${this.#kernel.parameters.indexOf(position)};\n`;
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
    const outer = this.#known.all;
    const parts: string[] = [];
    let segment: Statement[] = [];
    let opened = 0;
    const flush = (until: number) => {
      if (segment.length > 0) parts.push(this.#segment(segment, until, [begin, end]));
      segment = [];
    };
    for (const item of items) {
      if (item.kind === 'statement' && !this.#shared.has(item.range[0])) {
        if (item.exchanges.length > 0) {
          flush(item.range[0]);
          for (const exchange of item.exchanges) parts.push(this.#exchange(exchange));
        }
        segment.push(item);
        continue;
      }
      flush(item.range[0]);
      if (item.kind === 'branch') parts.push(this.#branch(item));
      else if (item.kind === 'statement') {
        const names = this.#shared.get(item.range[0])!;
        if (names.some((name) => this.#known.isHidden(name))) return this.#fail();
        parts.push(this.#written(item.range), reached(names));
        opened++;
      } else if (item.kind === 'block') parts.push(`{\n${this.#level(item.body, item.range)}\n}\n`);
      else if (item.kind === 'loop') parts.push(this.#loop(item));
    }
    flush(end);
    this.#known.all = outer;
    return `${parts.join('\n')}${'}'.repeat(opened)}`;
  }

  #loop({ head, body, range }: Item & { kind: 'loop' }): string {
    const source = this.#source;
    const [open, close] = head;
    const outer = this.#known.all;
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
      !this.#known.isHidden(counter.name) &&
      this.#known.isPlain(counter.value, 'uniform') &&
      !isChanged(this.#source, counter.name, close + 1, range[1]);
    if (!isCounted) return this.#fail();
    this.#known.add({ declared: counter, known: 'uniform', number: -1 });
    if (
      !this.#known.isPlain([first + 1, second], 'uniform') ||
      !this.#known.isPlain([second + 1, close], 'uniform', true)
    )
      return this.#fail();
    // A barrier is a place to stop at, also where the loop counts.
    const poll = 'if (covarium::cancelled()) covarium::leave();';
    const text = `${this.#written([range[0], close + 1])} {\n${poll}\n${this.#level(body, [close + 1, range[1]])}\n}\n`;
    this.#known.all = outer;
    return text;
  }

  #fail(): string {
    this.#fails = true;
    return '';
  }

  /** Statements without a barrier: a loop over the threads. `until` is where the next thing begins. */
  #segment(statements: readonly Statement[], until: number, block: Range): string {
    const source = this.#source;
    const before = this.#known.all;
    const above: string[] = [];
    const inside: string[] = [];
    for (const { range, declared } of statements) {
      if (/^(?:using|typedef|struct|union|enum|class|static_assert)$/.test(source.text(range[0]))) {
        above.push(this.#written(range));
        continue;
      }
      if (declared.some(({ name }) => this.#known.isHidden(name))) return this.#fail();
      const isLater = declared.some(({ name }) => this.#isNamed(name, until, block[1]));
      if (declared.length > 0 && (isLater || declared.some(({ isConstexpr }) => isConstexpr))) {
        const known = declared.map((each) => this.#known.knownAs(each));
        if (known.every((each) => each === 'uniform')) {
          above.push(this.#written(range));
          for (const each of declared) this.#known.add({ declared: each, known: 'uniform', number: -1 });
          continue;
        }
        for (const [i, each] of declared.entries()) {
          if (known[i] === 'stored' && !isStorable(source, each)) return this.#fail();
          const number = this.#arrays++;
          const variable: Variable = { declared: each, known: known[i] === 'uniform' ? 'again' : known[i]!, number };
          if (variable.known === 'stored') {
            above.push(`${threadArray(`covarium_all${number}`, this.#type(each), this.#dimensions(each))}\n`);
            inside.push(this.#first(variable));
          } else inside.push(this.#again(variable));
          this.#known.add(variable);
        }
        continue;
      }
      inside.push(this.#statement(range));
    }
    if (inside.length === 0) return above.join('');
    const leaves = statements.some(({ range }) => source.hasWord(range[0], range[1], 'return'));
    const own = inside.join('');
    const left = ['covarium_alive', ...this.#branches].map((each) => `${each}[covarium_lane] = `).join('');
    return `${above.join('')}${this.#eachLane(
      leaves ? `if ([&]() -> bool {\n${own}\nreturn false; }()) ${left}false;` : own,
      before,
    )}`;
  }

  /** A loop over the threads that take part here. */
  #eachLane(own: string, known: readonly Variable[] = this.#known.all): string {
    const among = this.#among;
    return `
covarium_each_lane {
${among === undefined ? '' : `if (!${among}[covarium_lane]) continue;\n`}${this.#ofLane(known)}${own}
}
}
`;
  }

  /** The array that says which threads take part; undefined if all do. */
  get #among(): string | undefined {
    return this.#branches.at(-1) ?? (this.#hasReturn ? 'covarium_alive' : undefined);
  }

  /** What a thread knows at its place: its positions, and the variables before. */
  #ofLane(variables: readonly Variable[]): string {
    const positions = this.#kernel.parameters.filter(
      ({ kind, attribute }) => kind === 'place' && !ofGroup.has(attribute),
    );
    const values = positions.map((each) => this.#valueOf(each)).join('');
    const names = positions.map((each) => this.#nameOf(each)).join('');
    const known = variables.map((each) => {
      if (each.known === 'stored') return `auto& ${each.declared.name} = covarium_all${each.number}[covarium_lane];\n`;
      return each.known === 'again' ? this.#again(each) : '';
    });
    return `${positionText}${values}{\n${names}${known.join('')}`;
  }

  /** What each lane gives is stored; what stands in the place of the call is told to the loop behind. */
  #exchange({ name, range, given, by }: Exchange): string {
    const number = this.#arrays++;
    const value = this.#written(given);
    const among = this.#among ?? 'nullptr';
    const threads = 'covarium_sizex * covarium_sizey * covarium_sizez';
    const values = `covarium_given${number}`;
    const result = `covarium_taken${number}`;
    const type = name === 'simd_ballot' ? 'metal::simd_vote' : `decltype(covarium_give${number}(0u, 0u, 0u, 0u))`;
    let all = '';
    let text = `metal::from_lane::${name}(${values}, ${among}, covarium_lane, ${threads}, ${by ? this.#written(by) : ''})`;
    if (by === undefined) {
      all = `${threadArray(result, type)}metal::of_all::${name}(${values}, ${among}, ${threads}, ${result});\n`;
      text = `${result}[covarium_lane]`;
    }
    this.#exchanged.set(range[0], { end: range[1], text });
    return `const auto covarium_give${number} = [&](uint32_t covarium_lx, uint32_t covarium_ly, uint32_t covarium_lz, uint32_t covarium_lane) {
${this.#ofLane(this.#known.all)}return ${/_(?:all|any|ballot)$/.test(name) ? `static_cast<bool>(${value})` : `covarium::plain(${value})`};
}
};
${threadArray(values, `decltype(covarium_give${number}(0u, 0u, 0u, 0u))`)}covarium_each_lane {
${among === 'nullptr' ? '' : `if (!${among}[covarium_lane]) continue;\n`}${values}[covarium_lane] = covarium_give${number}(covarium_lx, covarium_ly, covarium_lz, covarium_lane);
}
${all}`;
  }

  /** Threads that go one way and threads that go the other, if any: their loops leave out the others. */
  #branch({ range, condition, exchanges, yes, no }: Branch): string {
    if (exchanges.length === 0 && this.#known.isPlain(condition, 'uniform')) {
      const arm = ({ items, range: of }: Branch['yes']) => `{\n${this.#level(items, of)}\n}\n`;
      return `if (${this.#written(condition)}) ${arm(yes)}${no === undefined ? '' : `else ${arm(no)}`}`;
    }
    // At a barrier that only some threads come to, a kernel is refused.
    for (let at = range[0]; at < range[1]; at++) if (isBarrier(this.#source, at)) return this.#fail();
    const number = this.#arrays++;
    const before = exchanges.map((each) => this.#exchange(each)).join('');
    const arms = [{ name: `covarium_yes${number}`, arm: yes }];
    if (no !== undefined) arms.push({ name: `covarium_no${number}`, arm: no });
    const names = arms.map(({ name }) => name);
    // The loop below leaves out who takes no part.
    const clears = this.#among === undefined ? [] : names;
    const clear = clears.map((name) => `__builtin_memset(${name}, 0, covarium::mostThreads);\n`).join('');
    const choose = `const bool covarium_goes = static_cast<bool>(${this.#written(condition)});
${names.map((name, i) => `${name}[covarium_lane] = ${i === 0 ? '' : '!'}covarium_goes;\n`).join('')}`;
    const declared = names.map((name) => threadArray(name, 'bool')).join('');
    const parts = [before, declared, clear, this.#eachLane(choose)];
    for (const { name, arm } of arms) {
      this.#branches.push(name);
      parts.push(`{\n${this.#level(arm.items, arm.range)}\n}\n`);
      this.#branches.pop();
    }
    return parts.join('');
  }

  #statement(range: Range): string {
    return this.#written(range).replace(/\breturn(?=\s*;)/g, 'return true');
  }

  #written([begin, end]: Range): string {
    const parts: string[] = [];
    let from = begin;
    for (let at = begin; at < end; at++) {
      const exchanged = this.#exchanged.get(at);
      if (exchanged === undefined || exchanged.end > end) continue;
      parts.push(written(this.#source.tokens, [[from, at]], this.#edits), ` ${exchanged.text} `);
      from = exchanged.end;
      at = from - 1;
    }
    return `${parts.join('')}${written(this.#source.tokens, [[from, end]], this.#edits)}`;
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

  #isNamed(name: string, begin: number, end: number): boolean {
    return this.#source.hasWord(begin, end, name);
  }
}

function declaredOf(source: Source, range: Range): readonly Declared[] {
  const item = itemsIn(source, [range[0] - 1, range[1]], false)?.[0];
  return item?.kind === 'statement' ? item.declared : [];
}

/** Opens a block where the names of threadgroup variables are references, which no call is needed to reach. */
function reached(names: readonly string[]): string {
  const pointers = names.map((name) => `covarium_reach(covarium_at_${name}, ${name})`);
  return [...pointers, '{', ...names.map((name) => `auto& ${name} = *covarium_at_${name};`), ''].join('\n');
}
