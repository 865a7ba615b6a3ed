import { CovariumError, type Diagnostic } from '../covarium-error.ts';

/**
 * The messages of a compiler, line by line: those of clang, g++ and Metal have the same form, `path:line:column:`, and
 * NVRTC writes `path(line):`.
 */
function diagnosticsIn(output: string): Diagnostic[] {
  const line =
    /^(?:\/\/\s*)?([^\n]*?)(?::(\d+):(?:(\d+):)?|\((\d+)\):) (?:fatal |catastrophic )?(error|warning)(?: #\S+)?: (.*)$/gm;
  return [...output.matchAll(line)].map(([, path, plain, column, inParentheses, severity, message]) => ({
    severity: severity as Diagnostic['severity'],
    // The namespace around the user's text.
    message: message!.trim().replace(/(?:\(anonymous namespace\)::|\{anonymous\}::)?covarium_unit::/g, ''),
    path: path!,
    line: Number(plain ?? inParentheses),
    column: Number(column ?? 1),
  }));
}

/** Some lines of a text around a place, which is marked. */
export function codeFrame(text: string, line: number, column: number): string {
  const lines = text.split('\n');
  const first = Math.max(1, line - 2);
  const last = Math.min(lines.length, line + 1);
  const digits = String(last).length;
  const frame: string[] = [];
  for (let at = first; at <= last; at++) {
    const shown = lines[at - 1]!.replaceAll('\t', ' ').slice(0, 160);
    frame.push(`${at === line ? '>' : ' '} ${String(at).padStart(digits)} | ${shown}`);
    if (at === line && column <= 160) frame.push(`  ${' '.repeat(digits)} | ${' '.repeat(Math.max(0, column - 1))}^`);
  }
  return frame.join('\n');
}

/**
 * The first place in the user's text that a note names, for an error within our own headers. NVRTC writes no note, but
 * from which line a template was instantiated.
 */
function userPlace(
  output: string,
  texts: ReadonlyMap<string, string>,
): Omit<Diagnostic, 'severity' | 'message'> | undefined {
  const notes = [...output.matchAll(/^(?<path>[^\n]*?):(?<line>\d+):(?<column>\d+): /gm)];
  const instantiations = [...output.matchAll(/" at line (?<line>\d+) of (?<path>[^\n]+)$/gm)];
  const place = [...notes, ...instantiations].find(({ groups }) => texts.has(groups!['path']!))?.groups;
  if (place === undefined) return undefined;
  const own = { path: place['path']!, line: Number(place['line']), column: Number(place['column'] ?? 1) };
  return { ...own, column: columnWithin(texts, own) };
}

/** A column of the user's line: what a macro makes goes on beyond its end. */
function columnWithin(
  texts: ReadonlyMap<string, string>,
  { path, line, column }: Pick<Diagnostic, 'path' | 'line' | 'column'>,
): number {
  const length = texts.get(path)?.split('\n')[line - 1]?.trimEnd().length ?? column;
  // Behind the last is where something is missing.
  return column <= length + 1 ? column : Math.max(1, length);
}

/**
 * The error for a text that does not compile: the compiler's first error at the user's line, with the code there.
 * `texts` are the kernel's text and its includes, by name.
 */
export function compileError(output: string, kernel: string, texts: ReadonlyMap<string, string>): CovariumError {
  const diagnostics = diagnosticsIn(output).map((each) => ({ ...each, column: columnWithin(texts, each) }));
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const first = errors.find(({ path }) => texts.has(path)) ?? errors[0];
  if (first === undefined)
    return new CovariumError('ERR_KERNEL_COMPILE', `Kernel (${kernel}) does not compile (${output.trim()}).`);
  const { message } = first;
  const { path, line, column } = texts.has(first.path) ? first : (userPlace(output, texts) ?? first);
  const text = texts.get(path);
  const frame = text === undefined ? '' : `\n\n${codeFrame(text, line, column)}\n`;
  const more = errors.length > 1 ? `, the first of (${errors.length}) errors` : '';
  return new CovariumError(
    'ERR_KERNEL_COMPILE',
    `Kernel (${kernel}) does not compile: ${message} (${path}:${line}:${column})${more}.${frame}`,
    { path, line, column, diagnostics },
  );
}
