import { CovariumError } from '../../covarium-error.ts';
import { codeOf, splitList } from '../source.ts';

/** Variables in threadgroup memory from one declaration. */
export interface ThreadgroupVariables {
  /** Start of the declaration, at its first word; `end` is after its semicolon. */
  readonly begin: number;
  readonly end: number;
  /** The place of the word `threadgroup`, or of a macro that expands to it. */
  readonly word: number;
  /** The alignment in the text; usually empty. */
  readonly alignment: string;
  readonly type: string;
  /** `dimensions` are the brackets after the name; empty if the variable is not an array. */
  readonly variables: readonly { readonly name: string; readonly dimensions: string }[];
}

/** Letters of a declaration, and words in front of its `threadgroup`. */
const longestDeclaration = 1000;
const mostWordsInFront = 10;

/**
 * The variables in threadgroup memory of a text, without pointers to such memory. Throws `ERR_UNSUPPORTED` for a
 * declaration that is not understood.
 */
export function threadgroupVariables(text: string): ThreadgroupVariables[] {
  const code = codeOf(text);
  const words = wordsIn(text);
  const places = [...code.matchAll(/\w+/g)].filter(([word]) => words.has(word));
  return places.flatMap(({ index, 0: word }, place) => {
    // A declaration says the word once.
    const declared = declaredBehind(code, index + word.length, places[place + 1]?.index ?? code.length);
    if (declared === undefined) return [];
    const front = frontOf(code, index);
    if (front === undefined) throw notUnderstood(`${word}${declared}`);
    const [type, ...more] = partsOf(declared.replace(alignments, ''));
    if (type === undefined || more.length === 0) throw notUnderstood(`${word}${declared}`);
    const all = `${front.text} ${declared}`;
    return {
      begin: front.begin,
      end: index + word.length + declared.length + 1,
      word: index,
      alignment: (all.match(alignments) ?? []).join(' '),
      // A macro may also stand for the type.
      type: `${front.text.replace(alignments, '').replace(/\bstatic\b/g, '')} ${word} ${type}`.trim(),
      variables: more.map((each) => {
        const [, name = '', dimensions = ''] = /^(\w+)\s*([\s\S]*)$/.exec(each) ?? [];
        return { name, dimensions };
      }),
    };
  });
}

const alignments = /\balignas\s*\([^()]*\)/g;

function notUnderstood(declaration: string): CovariumError {
  const shown = declaration.replace(/\s+/g, ' ').slice(0, 100);
  return new CovariumError(
    'ERR_UNSUPPORTED',
    `Variable in threadgroup memory (${shown}) is not understood: declare it alone, as threadgroup float name[size].`,
  );
}

/** The word `threadgroup`, and the macros that stand for it, alone, with a type, or through another macro. */
function wordsIn(text: string): ReadonlySet<string> {
  const definition = /^[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)((?:\\\r?\n|[^\n])*)$/gm;
  const macros = new Map<string, { name: string; parenthesis: string; body: string }[]>();
  for (const [, name, parenthesis, whole] of text.matchAll(definition)) {
    const body = whole!.replace(/\/\*[\s\S]*?(?:\*\/|$)|\/\/[\s\S]*|\[[^[\]]*\]/g, ' ');
    for (const word of declaringWords(body)) {
      const same = macros.get(word) ?? [];
      same.push({ name: name!, parenthesis: parenthesis!, body });
      macros.set(word, same);
    }
  }
  const words = new Set(['threadgroup']);
  // Iteration over a set includes words that are added meanwhile.
  for (const word of words)
    for (const { name, parenthesis, body } of macros.get(word) ?? []) {
      if (parenthesis !== '' || !/^[\w\s<>:]*$/.test(body)) throw notUnderstood(`#define ${name}${parenthesis}${body}`);
      words.add(name);
    }
  return words;
}

/**
 * Words that may declare a variable. Words that are called, and words followed by the mark of a pointer or a reference,
 * do not.
 */
function declaringWords(body: string): Set<string> {
  const words = new Set<string>();
  for (const part of body.split(/[,;)]/)) {
    const mark = Math.max(part.lastIndexOf('*'), part.lastIndexOf('&'));
    for (const [, word, call] of part.slice(mark + 1).matchAll(/(\w+)(\s*\()?/g))
      if (call === undefined) words.add(word!);
  }
  return words;
}

/**
 * The declaration after the word, up to its semicolon before `to`; undefined if it is a pointer, a reference, a cast or
 * an argument.
 */
function declaredBehind(code: string, from: number, to: number): string | undefined {
  let depth = 0;
  let letters = 0;
  for (let at = from; at < to && letters < longestDeclaration; at++) {
    const letter = code[at]!;
    if (letter <= ' ') continue;
    letters++;
    if (depth === 0) {
      if (letter === ';') return code.slice(from, at);
      if (letter === '*' || letter === '&' || letter === '=') return undefined;
      if (letter === '(' && !/\balignas\s*$/.test(code.slice(Math.max(from, at - 20), at))) return undefined;
    }
    if (letter === '(' || letter === '[' || letter === '{') depth++;
    else if (letter === ')' || letter === ']' || letter === '}') depth--;
    if (depth < 0) return undefined;
  }
  return undefined;
}

/** The words of the declaration before `threadgroup`; undefined if something else precedes it. */
function frontOf(code: string, word: number): { begin: number; text: string } | undefined {
  let begin = word;
  for (let words = 0; words <= mostWordsInFront; words++) {
    let at = begin;
    while (at > 0 && /\s/.test(code[at - 1]!)) at--;
    if (at === 0 || ';{}'.includes(code[at - 1]!)) return { begin, text: code.slice(begin, word) };
    const [front] = /(?:\balignas\s*\([^()]*\)|[\w:<>]+)$/.exec(code.slice(Math.max(0, at - 200), at)) ?? [];
    if (front === undefined || /^(?:else|do|return|case|default)?:?$/.test(front)) return undefined;
    begin = at - front.length;
  }
  return undefined;
}

/** Splits `float a[4], b` into `float`, `a[4]`, `b`; the first is empty if there is no type. */
function partsOf(declared: string): string[] {
  const [first = '', ...more] = splitList(declared);
  const [, type = '', variable] = /^([\s\S]*?)\b([A-Za-z_]\w*\s*(?:\[[\s\S]*\])?)$/.exec(first) ?? [];
  return variable === undefined ? [] : [type, variable, ...more];
}
