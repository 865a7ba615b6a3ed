import type { Range, Source } from '../declarations.ts';
import { type Edits, errorAt, textOf } from '../tokens.ts';

/** What the C++ of a text is for: the CPU, the CPU in check mode, or an NVIDIA GPU. */
export type Target = 'cpu' | 'check' | 'cuda';

/** A declaration of variables in threadgroup memory. */
interface ThreadgroupVariables {
  /** The index of the word `threadgroup`. */
  readonly word: number;
  readonly statement: Range;
  readonly names: readonly string[];
}

/**
 * The declarations of variables in threadgroup memory within a body, without pointers to such memory. Throws
 * `ERR_UNSUPPORTED` for one that cannot be what it says: it would be each thread's own.
 */
export function threadgroupVariables(source: Source, [begin, end]: Range): ThreadgroupVariables[] {
  const found: ThreadgroupVariables[] = [];
  for (let at = begin; at < end; at++) {
    if (source.text(at) === '(' && !isBlockHead(source, at)) {
      // Parameters, casts and calls declare nothing; lambdas are not Metal's.
      at = source.close[at]!;
      continue;
    }
    if (source.text(at) === '<' && source.tokens[at - 1]?.kind === 'word') at = source.angleEnd(at, end) ?? at;
    if (source.text(at) !== 'threadgroup') continue;
    const variables = declaredAt(source, at, begin, end);
    if (variables !== undefined) found.push(variables);
  }
  return found;
}

/** True for the parentheses of `for (threadgroup float& each : all)`. */
function isBlockHead(source: Source, at: number): boolean {
  return source.text(at - 1) === 'for';
}

function declaredAt(source: Source, word: number, begin: number, end: number): ThreadgroupVariables | undefined {
  let first = word;
  while (first > begin + 1 && !/^[;{})]$/.test(source.text(first - 1)) && source.text(first - 1) !== 'else') {
    first--;
    if (source.text(first) === '(') return undefined;
  }
  if (source.text(first - 1) === ')') {
    // alignas(16) threadgroup float t[4];
    let open = first - 2;
    while (open > begin && source.close[open] !== first - 1) open--;
    if (source.text(open - 1) === 'alignas' || source.text(open - 1) === '__attribute__') first = open - 1;
  }
  let last = word;
  const names: string[] = [];
  let name = '';
  let isDeclarator = false;
  for (let at = word + 1; at < end; at++) {
    const { kind, text } = source.tokens[at]!;
    if (text === ';') {
      last = at;
      break;
    }
    if (source.isAttribute(at)) at = source.close[at]!;
    else if (text === '(') {
      if (!/^(?:__attribute__|alignas|decltype)$/.test(source.text(at - 1))) {
        // A pointer to an array.
        if (/^[*&]$/.test(source.text(at + 1)) || source.text(at + 1) === 'threadgroup') return undefined;
        throw notUnderstood(source, first, at);
      }
      at = source.close[at]!;
    } else if (text === '*' || text === '&') return undefined;
    else if (text === '=' || text === '{' || text === ':')
      throw errorAt(
        source.tokens[word]!,
        `Variable (${name}) in threadgroup memory has an initial value, which each thread would write: assign it in one thread, then wait at a barrier`,
      );
    else if (text === '[') {
      isDeclarator = true;
      at = source.close[at]!;
    } else if (text === '<' && source.tokens[at - 1]!.kind === 'word') at = source.angleEnd(at, end) ?? at;
    else if (text === ',') {
      if (name !== '') names.push(name);
      name = '';
      isDeclarator = false;
    } else if (kind === 'word' && !isDeclarator && !/^(?:decltype|alignas|__attribute__)$/.test(text)) name = text;
  }
  if (name !== '') names.push(name);
  const types = source.tokens.slice(first, last).filter(({ kind, text }) => kind === 'word' && text !== 'threadgroup');
  if (last === word || names.length === 0 || types.length < 2) throw notUnderstood(source, first, last);
  const label =
    source.text(first - 1) === ':' ||
    source.tokens.slice(first, word).some(({ text }) => text === ':' || text === 'case');
  if (label) throw notUnderstood(source, word, last);
  return { word, statement: [first, last + 1], names };
}

function notUnderstood(source: Source, first: number, last: number): Error {
  const shown = textOf(source.tokens.slice(first, last)).slice(0, 100);
  return errorAt(
    source.tokens[first]!,
    `Variable in threadgroup memory (${shown}) is not understood: declare it alone, as threadgroup float name[size]`,
  );
}

/**
 * In MSL, variables in threadgroup memory are declared in the kernel's body. On an NVIDIA GPU they are shared. On the
 * CPU they become thread-local variables of the processor's thread, which runs one group at a time; their sizes are
 * summed, by kernel, when the library is loaded.
 */
export function shareVariables(source: Source, body: Range, kernel: string, edits: Edits, target: Target): void {
  let which = 0;
  for (const { word, statement, names } of threadgroupVariables(source, body)) {
    const counted = (name: string) =>
      `(void)&covarium::StaticMemory<&${kernel}, sizeof(${name}), ${which++}>::counted;`;
    const [first, end] = statement;
    // alignas and attributes come first.
    const front = /^(?:alignas|__attribute__)$/.test(source.text(first)) ? word + 1 : first;
    if (target === 'cuda') {
      edits.before(front, '__shared__');
      continue;
    }
    if (target === 'cpu') {
      edits.replace(word, '');
      edits.before(front, 'static thread_local');
      edits.after(end - 1, names.map(counted).join(' '));
      continue;
    }
    // In check mode each lies apart from the next, so that an access beyond it meets no other.
    edits.replace(word, '');
    edits.before(first, 'typedef');
    // Its memory is aligned to a page; a type takes no such word.
    for (let at = first; at < end; at++) if (source.text(at) === 'alignas') edits.drop(at, source.close[at + 1]! + 1);
    for (let at = word + 1; at < end; at++)
      if (names.includes(source.text(at)) && /^[[,;]$/.test(source.text(at + 1)) && !edits.isDropped(at))
        edits.replace(at, `covarium_type_of_${source.text(at)}`);
    const each = names.map(
      (name) =>
        `auto& ${name} = covarium::own<&${kernel}, covarium_type_of_${name}, ${which}>("${name}"); ${counted(name)}`,
    );
    edits.after(end - 1, each.join(' '));
  }
}
