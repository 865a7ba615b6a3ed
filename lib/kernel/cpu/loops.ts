import type { Range, Source } from '../declarations.ts';
import type { Edits } from '../tokens.ts';

// A run that is cancelled ends at the next pass of a loop that looks for it. Innermost loops that count do not look:
// they end soon, and a compiler makes vectors of them.

/** A loop of a text. */
export interface Loop {
  /** The index of its word. */
  readonly at: number;
  /** Where its head ends: at a parenthesis, or at `do`. */
  readonly head: number;
  /** The last token of a `do` but the semicolon. */
  end?: number;
}

/** The loops between two tokens, which are the body of a function. */
export function loopsIn(source: Source, [begin, end]: Range): Loop[] {
  const found: Loop[] = [];
  // Of each block that is open, the `do` whose `while` is to come: behind the statement of a `do`, no other may stand.
  const pending: Loop[][] = [[]];
  for (let at = begin; at < end; at++) {
    const word = source.text(at);
    if (word === '{') pending.push([]);
    else if (word === '}') pending.pop();
    if (word !== 'for' && word !== 'while' && word !== 'do') continue;
    const head = word === 'do' ? at : source.close[at + 1]!;
    if (head >= end || (word !== 'do' && source.text(at + 1) !== '(')) continue;
    const open = word === 'while' && /^[;}]$/.test(source.text(at - 1)) ? pending.at(-1)?.pop() : undefined;
    if (open !== undefined) {
      open.end = head;
      continue;
    }
    const loop = { at, head };
    if (word === 'do') pending.at(-1)?.push(loop);
    found.push(loop);
  }
  return found;
}

/** Makes the loops between two tokens, which are the body of a function, look whether their run is cancelled. */
export function pollInLoops(source: Source, body: Range, edits: Edits): void {
  for (const { at, head } of loopsIn(source, body)) {
    const isShort =
      source.text(at) === 'for' &&
      counts(source, at + 1, head) &&
      !hasLoop(source, head + 1, statementEnd(source, head + 1, body[1]));
    if (!isShort) edits.after(head, 'if (covarium::cancelled()) covarium::leave(); else');
  }
}

/** The semicolons of the head of a loop. */
export function marksOf(source: Source, open: number, close: number): number[] {
  const marks: number[] = [];
  for (let at = open + 1; at < close; at++) {
    if (source.text(at) === ';') marks.push(at);
    if (source.close[at]! >= 0) at = source.close[at]!;
  }
  return marks;
}

/** True if the head of a loop compares a variable and steps it: `for (...; i < n; ++i)`. */
function counts(source: Source, open: number, close: number): boolean {
  const marks = marksOf(source, open, close);
  if (marks.length !== 2) return marks.length === 0; // for (T& each : all)
  const [first, second] = marks as [number, number];
  const compared = source.tokens.slice(first + 1, second);
  const stepped = source.tokens.slice(second + 1, close);
  // An unsigned number is never below 0.
  const isEndless = compared.some(({ text }, i) => text === '>=' && compared[i + 1]?.text === '0');
  return (
    !isEndless &&
    compared.some(({ text }) => /^(?:<|>|<=|>=|!=)$/.test(text)) &&
    stepped.some(
      ({ kind, text }) => kind === 'word' && compared.some((each) => each.kind === 'word' && each.text === text),
    ) &&
    stepped.some(({ text }) => /^(?:\+\+|--|[-+*/]=|<<=|>>=|=)$/.test(text))
  );
}

/** True if there is a loop of more than a few passes: a compiler unrolls `for (int k = 0; k < 4; ++k)`. */
function hasLoop(source: Source, begin: number, end: number): boolean {
  for (let at = begin; at < end; at++) {
    const word = source.text(at);
    if (word === 'while' || word === 'do') return true;
    if (word !== 'for') continue;
    const head = source.tokens.slice(at + 1, Math.min(source.close[at + 1]!, end));
    const isShort = head.some(
      ({ text }, i) =>
        /^(?:[12]?\d|3[0-2])u?$/.test(text) && /^[<>]=?$/.test(head[i - 1]?.text ?? '') && head[i + 1]?.text === ';',
    );
    if (!isShort) return true;
  }
  return false;
}

/** The last token of the statement at `from`, but for what is behind `else`. */
export function statementEnd(source: Source, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    if (source.text(at) === '{') return source.close[at]!;
    if (source.text(at) === ';') return at;
    if (source.close[at]! >= 0) at = source.close[at]!;
  }
  return end;
}
