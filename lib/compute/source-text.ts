import type { Node } from 'acorn';
import { CovariumError } from '../covarium-error.ts';
import { codeFrame } from '../kernel/diagnostics.ts';

/** True for an identifier without the marks $ and _ in front: letters of any language, digits and _. */
export function isName(text: string): boolean {
  return /^\p{ID_Start}[\p{ID_Continue}]*$/u.test(text);
}

/** The text of a user's function, or a text of the user's that we make one of: refusals show it. */
export class SourceText {
  /** What messages call the text. */
  readonly name: string;
  readonly text: string;
  /** The names that a text which is not a function may use; undefined for a function. */
  readonly names: readonly string[] | undefined;
  /** What to do about a name that the text does not know. */
  readonly remedy: string;
  /** Characters before the text, in what the parser reads. */
  readonly #before: number;

  constructor(
    name: string,
    text: string,
    before = 0,
    how: { readonly names?: readonly string[] | undefined; readonly remedy?: string | undefined } = {},
  ) {
    this.name = name;
    this.text = text;
    this.#before = before;
    this.names = how.names;
    this.remedy = how.remedy ?? 'give it as an argument, or in `uses`';
  }

  /** The line of a node, from 1. */
  lineOf({ start }: Pick<Node, 'start'>): number {
    return this.#place(start).line;
  }

  /** What the user wrote there, in short. */
  wordsOf({ start, end }: Pick<Node, 'start' | 'end'>): string {
    const words = this.text.slice(start - this.#before, end - this.#before).replace(/\s+/g, ' ');
    return words.length > 40 ? `${words.slice(0, 37)}...` : words;
  }

  /** True for a node that the user wrote. */
  holds({ start, end }: Pick<Node, 'start' | 'end'>): boolean {
    return start >= this.#before && end <= this.#before + this.text.length;
  }

  /** True if nothing but blanks is behind a place. */
  isBehind(start: number): boolean {
    return this.text.slice(Math.max(0, start - this.#before)).trim() === '';
  }

  /** The error for a node that a kernel can't have: `why` is a sentence, or several, without its last full stop. */
  refusal(node: Pick<Node, 'start'>, why: string): CovariumError {
    const { line, column } = this.#place(node.start);
    const message = `${why} (${this.name}:${line}:${column})`;
    const diagnostic = { severity: 'error' as const, message: why, path: this.name, line, column };
    return new CovariumError('ERR_KERNEL_COMPILE', `${message}.\n\n${this.#frame(line, column)}\n`, {
      ...{ path: this.name, line, column },
      diagnostics: [diagnostic],
    });
  }

  #place(start: number): { line: number; column: number } {
    const at = Math.max(0, Math.min(this.text.length, start - this.#before));
    const lines = this.text.slice(0, at).split('\n');
    return { line: lines.length, column: lines.at(-1)!.length + 1 };
  }

  // Loaders such as tsx put a function on one line: what is far to the left is left out.
  #frame(line: number, column: number): string {
    if (column <= 120) return codeFrame(this.text, line, column);
    const cut = column - 60;
    const lines = this.text.split('\n').map((each, i) => (i + 1 === line ? `...${each.slice(cut)}` : each));
    return codeFrame(lines.join('\n'), line, column - cut + 3);
  }
}
