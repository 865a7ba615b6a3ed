import type { Range, Source } from '../declarations.ts';
import type { Edits } from '../tokens.ts';

// A run that is cancelled ends at the next pass of a loop that looks for it. Innermost loops that count do not look:
// they end soon, and a compiler makes vectors of them.

/** Makes the loops between two tokens, which are the body of a function, look whether their run is cancelled. */
export function pollInLoops(source: Source, [begin, end]: Range, edits: Edits): void {
  // Of each block that is open, the `do` whose `while` is to come: behind the statement of a `do`, no other may stand.
  const pending = [0];
  for (let at = begin; at < end; at++) {
    const word = source.text(at);
    const block = pending.length - 1;
    if (word === '{') pending.push(0);
    else if (word === '}') pending.pop();
    if (word !== 'for' && word !== 'while' && word !== 'do') continue;
    if (word === 'do') pending[block]!++;
    else if (word === 'while' && pending[block]! > 0 && /^[;}]$/.test(source.text(at - 1))) {
      pending[block]!--;
      continue;
    }
    const head = word === 'do' ? at : source.close[at + 1]!;
    if (head >= end || (word !== 'do' && source.text(at + 1) !== '(')) continue;
    if (
      word === 'for' &&
      counts(source, at + 1, head) &&
      !hasLoop(source, head + 1, statementEnd(source, head + 1, end))
    )
      continue;
    edits.after(head, 'if (covarium::cancelled()) covarium::leave(); else');
  }
}

/** True if the head of a loop compares a variable and steps it: `for (...; i < n; ++i)`. */
function counts(source: Source, open: number, close: number): boolean {
  const marks: number[] = [];
  for (let at = open + 1; at < close; at++) {
    if (source.text(at) === ';') marks.push(at);
    if (source.close[at]! >= 0) at = source.close[at]!;
  }
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

function statementEnd(source: Source, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    if (source.text(at) === '{') return source.close[at]!;
    if (source.text(at) === ';') return at;
    if (source.close[at]! >= 0) at = source.close[at]!;
  }
  return end;
}
