import type { Range, Source } from '../declarations.ts';
import { changing } from './changes.ts';

/** Functions at which all threads of a group, or of a simdgroup, wait for each other, and nothing else happens. */
const barriers: ReadonlySet<string> = new Set(['threadgroup_barrier', 'simdgroup_barrier']);

/** Functions by which the lanes of a simdgroup or quad exchange values: the first argument is what each gives. */
const ofAll = RegExp(
  '^(?:(?:simd|quad)_(?:sum|product|min|max|and|or|xor|all|any)' +
    '|(?:simd|quad)_prefix_(?:in|ex)clusive_(?:sum|product)|simd_(?:ballot|broadcast_first))$',
);
const fromLane = /^(?:simd|quad)_(?:broadcast|shuffle(?:_(?:rotate_)?(?:up|down)|_xor)?)$/;

/** A call by which lanes exchange values. */
export interface Exchange {
  readonly name: string;
  /** With `metal::` before it. */
  readonly range: Range;
  readonly given: Range;
  /** The lane that it takes from, or how far that is; undefined where it takes from all. */
  readonly by: Range | undefined;
}

/** A variable that a statement declares. */
export interface Declared {
  readonly name: string;
  readonly nameAt: number;
  /** The words of the type, with stars. */
  readonly type: Range;
  /** What stands behind the name: dimensions, and an initial value. */
  readonly rest: Range;
  /** The initial value; undefined if there is none, or if it is not an expression. */
  readonly value: Range | undefined;
  readonly isConstexpr: boolean;
}

/** What stands in a block that has a barrier. */
export type Item =
  | { readonly kind: 'barrier'; readonly range: Range }
  | { readonly kind: 'loop'; readonly range: Range; readonly head: Range; readonly body: readonly Item[] }
  | { readonly kind: 'block'; readonly range: Range; readonly body: readonly Item[] }
  | Branch
  | Statement;

/** What some threads do, and others do not. */
export interface Branch {
  readonly kind: 'branch';
  readonly range: Range;
  readonly condition: Range;
  readonly exchanges: readonly Exchange[];
  /** With the range that its items stand in, which begins and ends with a token that is not theirs. */
  readonly yes: { readonly items: readonly Item[]; readonly range: Range };
  readonly no: { readonly items: readonly Item[]; readonly range: Range } | undefined;
}

/** A statement without a barrier. */
export interface Statement {
  readonly kind: 'statement';
  readonly range: Range;
  readonly declared: readonly Declared[];
  /** The calls in it by which lanes exchange values, those in others' arguments first. */
  readonly exchanges: readonly Exchange[];
}

/** True for a call of a barrier at `at`. */
export function isBarrier(source: Source, at: number): boolean {
  return barriers.has(source.text(at)) && source.text(at + 1) === '(';
}

function hasBarrier(source: Source, [begin, end]: Range): boolean {
  for (let at = begin; at < end; at++) if (isBarrier(source, at)) return true;
  return false;
}

/** True at a call of a function of the lanes of a simdgroup, barriers too, and at its matrices; not at a variable. */
export function isOfLanes(source: Source, at: number): boolean {
  const name = source.text(at);
  if (/^simdgroup_(?:matrix|\w+8x8)$/.test(name)) return true;
  if (!/^(?:simd_|simdgroup_|quad_|make_filled_simdgroup)/.test(name)) return false;
  const behind = source.text(at + 1) === '<' ? source.angleEnd(at + 1, at + 100) : at;
  return behind !== undefined && source.text(behind + 1) === '(';
}

function hasExchange(source: Source, [begin, end]: Range): boolean {
  for (let at = begin; at < end; at++) {
    if (source.isAttribute(at)) at = source.close[at]!;
    else if (isOfLanes(source, at) && !isBarrier(source, at)) return true;
  }
  return false;
}

/**
 * The calls of an expression by which lanes exchange values, those in others' arguments first; undefined if it holds
 * others, if some lanes may skip one, or if it changes variables but the one that it is assigned to.
 */
function exchangesIn(source: Source, [begin, end]: Range, mayAssign: boolean): Exchange[] | undefined {
  const found: Exchange[] = [];
  let assigned = mayAssign ? 0 : 1;
  let maySkip = false;
  for (let at = begin; at < end; at++) {
    const { kind, text } = source.tokens[at]!;
    if (text === '{' || text === '++' || text === '--') return undefined;
    if (changing.test(text) && assigned++ > 0) return undefined;
    maySkip ||= /^(?:\?|&&|\|\|)$/.test(text);
    if (kind !== 'word' || !isOfLanes(source, at)) continue;
    const close = source.close[at + 1]!;
    if (source.text(at + 1) !== '(' || source.named(text).length > 0) return undefined;
    const [given, by, ...others] = source.split(at + 2, close);
    if (given === undefined || others.length > 0 || !(by === undefined ? ofAll : fromLane).test(text)) return undefined;
    const inner = exchangesIn(source, [at + 2, close], false);
    if (inner === undefined) return undefined;
    const first = source.text(at - 1) === '::' && source.text(at - 2) === 'metal' ? at - 2 : at;
    found.push(...inner, { name: text, range: [first, close + 1], given, by });
    at = close;
  }
  return maySkip && found.length > 0 ? undefined : found;
}

/**
 * The statements of a block, and of the loops and blocks in it that have barriers; undefined if a barrier stands
 * anywhere else, or if a statement leaves such a loop.
 */
export function itemsIn(source: Source, [open, close]: Range, inLoop: boolean): Item[] | undefined {
  const items: Item[] = [];
  for (let at = open + 1; at < close; ) {
    if (source.text(at) === ';') {
      at++;
      continue;
    }
    if (source.isAttribute(at) || (source.text(at) === '_Pragma' && source.text(at + 1) === '(')) {
      at = source.close[source.isAttribute(at) ? at : at + 1]! + 1;
      continue;
    }
    const end = statementEnd(source, at, close);
    const item = itemOf(source, [at, end], inLoop);
    if (item === undefined) return undefined;
    items.push(item);
    at = end;
  }
  return items;
}

function itemOf(source: Source, range: Range, inLoop: boolean): Item | undefined {
  const [begin, end] = range;
  const exchanges = hasExchange(source, range);
  if (!exchanges && !hasBarrier(source, range)) {
    const first = source.text(begin);
    const leaves =
      first === 'switch' ? ['continue'] : ['for', 'while', 'do'].includes(first) ? [] : ['break', 'continue'];
    if (inLoop && leaves.some((word) => source.hasWord(begin, end, word))) return undefined;
    return { kind: 'statement', range, declared: declaredIn(source, range), exchanges: [] };
  }
  if (source.text(begin) === 'if') return branchOf(source, range, inLoop);
  if (exchanges && !statements.has(source.text(begin)) && source.text(begin) !== '{') {
    const found = exchangesIn(source, range, true);
    const declared = declaredIn(source, range);
    // One variable may be computed of another.
    return found && declared.length < 2 ? { kind: 'statement', range, declared, exchanges: found } : undefined;
  }
  const name = source.text(begin) === 'metal' ? begin + 2 : begin;
  if (isBarrier(source, name) && source.close[name + 1]! + 2 === end) return { kind: 'barrier', range };
  if (source.text(begin) === '{') {
    const body = itemsIn(source, [begin, end - 1], inLoop);
    return body && { kind: 'block', range, body };
  }
  if (source.text(begin) !== 'for') return undefined;
  const head: Range = [begin + 1, source.close[begin + 1]!];
  const body = armOf(source, [head[1] + 1, end], true);
  return body && { kind: 'loop', range, head, body: body.items };
}

function branchOf(source: Source, range: Range, inLoop: boolean): Branch | undefined {
  const [begin, end] = range;
  const condition: Range = [begin + 2, source.close[begin + 1]!];
  const exchanges = exchangesIn(source, condition, false);
  const first = condition[1] + 1;
  const behind = statementEnd(source, first, end);
  const yes = armOf(source, [first, behind], inLoop);
  const no = behind < end ? armOf(source, [behind + 1, end], inLoop) : undefined;
  if (source.text(begin + 1) !== '(' || exchanges === undefined || yes === undefined) return undefined;
  if (behind < end && no === undefined) return undefined;
  return { kind: 'branch', range, condition, exchanges, yes, no };
}

/** The items of a block, or of the one statement that stands for it. */
function armOf(source: Source, [begin, end]: Range, inLoop: boolean): Branch['yes'] | undefined {
  const range: Range = source.text(begin) === '{' ? [begin, end - 1] : [begin - 1, end];
  const items = itemsIn(source, range, inLoop);
  return items && { items, range };
}

/** After the statement at `at`. */
function statementEnd(source: Source, at: number, limit: number): number {
  switch (source.text(at)) {
    case '{':
      return source.close[at]! + 1;
    case 'if': {
      const yes = statementEnd(source, source.close[at + 1]! + 1, limit);
      return source.text(yes) === 'else' ? statementEnd(source, yes + 1, limit) : yes;
    }
    case 'for':
    case 'while':
    case 'switch':
      return statementEnd(source, source.close[at + 1]! + 1, limit);
    case 'do': {
      const behind = statementEnd(source, at + 1, limit);
      return source.close[behind + 1]! + 2;
    }
    default: {
      let end = at;
      while (end < limit && source.text(end) !== ';') end = Math.max(end, source.close[end]!) + 1;
      return Math.min(end + 1, limit);
    }
  }
}

/** Words that begin no declaration. */
const statements: ReadonlySet<string> = new Set(
  'if for while do switch return break continue else case default goto delete new using typedef'.split(' '),
);

/** The variables that a statement declares, but for those in threadgroup memory; none of another statement. */
function declaredIn(source: Source, [begin, end]: Range): Declared[] {
  if (source.tokens[begin]!.kind !== 'word' || statements.has(source.text(begin))) return [];
  // A type is words, arguments of templates and stars; the last word is the name.
  let at = begin;
  let words = 0;
  let isPointer = false;
  for (; at < end; at++) {
    const { kind, text } = source.tokens[at]!;
    if (kind === 'word') words++;
    else if (text === '::') words--;
    else if (text === '<') {
      const close = source.angleEnd(at, end);
      if (close === undefined) return [];
      at = close;
    } else if (/^[*&]$/.test(text)) isPointer = true;
    else break;
  }
  const nameAt = at - 1;
  if (words < 2 || source.tokens[nameAt]?.kind !== 'word' || !/^[=;,[({]$/.test(source.text(at))) return [];
  const isConstexpr = source.hasWord(begin, nameAt, 'constexpr');
  const all: Declared[] = [];
  const parts = source.split(nameAt, end - 1);
  for (const [first, last] of parts) {
    if (source.tokens[first]!.kind !== 'word' || (isPointer && parts.length > 1)) return [];
    let behind = first + 1;
    while (source.text(behind) === '[') behind = source.close[behind]! + 1;
    const isPlain = source.text(first + 1) === '=' && source.text(first + 2) !== '{';
    const value: Range | undefined = isPlain ? [first + 2, last] : undefined;
    all.push({
      name: source.text(first),
      nameAt: first,
      type: [begin, nameAt],
      rest: [first + 1, last],
      value,
      isConstexpr,
    });
  }
  return all;
}
