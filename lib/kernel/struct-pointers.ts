import type { Source } from './declarations.ts';
import type { Signature } from './signature.ts';
import { errorAt } from './tokens.ts';

/** Throws for a struct that holds pointers: the bytes of an argument have none that the device could follow. */
export function requireNoPointers({ name, source, parameters }: Signature): void {
  for (const { kind, type, name: argument, token } of parameters) {
    if (kind === 'place' || kind === 'absent' || kind === 'threadgroup') continue;
    const member = pointerIn(source, type, new Set());
    if (member !== undefined)
      throw errorAt(
        token,
        `Argument (${argument}) of kernel (${name}) is a struct with a pointer (${member}); pass the memory as an argument of its own`,
      );
  }
}

/** The name of a member that is a pointer, a reference or a texture, in a struct or in its structs. */
function pointerIn(source: Source, type: string, seen: Set<string>): string | undefined {
  const waiting: string[] = type.match(/\w+/g) ?? [];
  for (let word = waiting.pop(); word !== undefined; word = waiting.pop()) {
    if (seen.has(word)) continue;
    seen.add(word);
    for (const { kind, begin, end, body } of source.named(word)) {
      if (kind !== 'type') continue;
      if (body === undefined) {
        // Another name of a type.
        const words = source.tokens.slice(begin, end).map(({ text }) => text);
        if (words.includes('*') || words.includes('&')) return word;
        waiting.push(...words);
        continue;
      }
      for (const words of membersIn(source, body[0], body[1])) {
        if (words.includes('*') || words.includes('&') || words.some((each) => /^(?:texture|depth)\d/.test(each)))
          return words.findLast((each) => /^[A-Za-z_]\w*$/.test(each));
        waiting.push(...words);
      }
    }
  }
  return undefined;
}

/** The words of each member that takes room in a struct. */
function membersIn(source: Source, open: number, close: number): string[][] {
  const members: string[][] = [];
  let first = open + 1;
  for (let at = first; at < close; at++) {
    const text = source.text(at);
    if (text === '{') {
      // A function's body ends its declaration.
      if (source.text(at - 1) === ')' || source.text(at - 1) === 'const') first = source.close[at]! + 1;
      at = source.close[at]!;
    } else if (text === '(' || text === '[') at = source.close[at]!;
    else if (text === ';') {
      const words = source.tokens.slice(first, at).map(({ text: word }) => word);
      first = at + 1;
      if (!words.includes('(') && !['using', 'typedef'].includes(words[0]!) && !words.includes('static'))
        members.push(words);
    }
  }
  return members;
}
