// What both printers share: precedence, which is the same in Metal and in JavaScript, and lines.

/** An expression as text, with the precedence of its outermost operator. */
export interface Printed {
  readonly text: string;
  readonly level: number;
}

/** The level of names, calls and literals. */
export const highest = 20;

const levels: { readonly [operator: string]: number } = {
  ...{ '*': 12, '/': 12, '%': 12, '+': 11, '-': 11, '<<': 10, '>>': 10, '>>>': 10 },
  ...{ '<': 9, '>': 9, '<=': 9, '>=': 9, '==': 8, '!=': 8, '===': 8, '!==': 8 },
  ...{ '&': 7, '^': 6, '|': 5, '&&': 4, '||': 3 },
};

/** A name, a call or a literal. */
export function atom(text: string): Printed {
  return { text, level: highest };
}

/** The text, in parentheses unless it binds at least as strongly as `level`. */
export function within({ text, level }: Printed, least: number): string {
  return level >= least ? text : `(${text})`;
}

/** Two values with an operator between them. */
export function between(operator: string, left: Printed, right: Printed): Printed {
  const level = levels[operator]!;
  // Compilers warn of bits, shifts and conditions that are mixed without parentheses, and so do readers.
  const inner = level <= 10 && level !== 9 && level !== 8 ? Math.max(level, 11) : level;
  const isSame = ({ level: own }: Printed) => own === level && (operator === '&&' || operator === '||');
  const sides = [
    within(left, isSame(left) ? level : operator === '&&' || operator === '||' ? 8 : inner),
    within(right, isSame(right) ? level : operator === '&&' || operator === '||' ? 8 : inner + 1),
  ];
  return { text: `${sides[0]} ${operator} ${sides[1]}`, level };
}

/** An operator before a value. */
export function before(operator: string, value: Printed): Printed {
  const inner = within(value, 15);
  return { text: `${operator}${inner.startsWith(operator) ? `(${inner})` : inner}`, level: 14 };
}

/** test ? yes : no */
export function either(test: Printed, yes: Printed, no: Printed): Printed {
  return { text: `${within(test, 3)} ? ${within(yes, 2)} : ${within(no, 2)}`, level: 2 };
}

/** Lines, indented by two spaces. */
export function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === '' || line.startsWith('#') ? line : `  ${line}`));
}

/** A list of arguments over as many lines as it needs, with a margin of 120 columns. */
export function wrapped(head: string, parts: readonly string[], tail: string): string {
  const lines: string[] = [];
  let line = head;
  const margin = ' '.repeat(head.length);
  parts.forEach((part, i) => {
    const text = `${part}${i + 1 < parts.length ? ',' : tail}`;
    if (line !== head && line.length + 1 + text.length > 120) {
      lines.push(line);
      line = `${margin}${text}`;
    } else line += line === head || line === margin ? text : ` ${text}`;
  });
  return [...lines, parts.length === 0 ? `${head}${tail}` : line].join('\n');
}
