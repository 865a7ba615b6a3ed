/** JSON in which a key occurs twice. */
class OddJson extends Error {}

/**
 * The value of a JSON text, as JSON.parse() returns it. If a key occurs twice, JSON.parse() silently takes the last;
 * this function throws an error that names its place ({@link whyNotJson}). Throws a SyntaxError for text that is not
 * JSON.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  refuseRepeatedKeys(text);
  return value;
}

/** The clause of a message for an error of {@link parseJson}. */
export function whyNotJson(error: unknown): string {
  return error instanceof OddJson ? error.message : `it is not JSON (${(error as Error).message})`;
}

/**
 * The clause of a message for the first field of `value` that is not `known`; `path` is the place of `value`, '' at the
 * top.
 */
export function unknownField(value: object, known: readonly string[], path = ''): string | undefined {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  return unknown === undefined ? undefined : `it has an unknown field (${placeOf(path, unknown)})`;
}

/** An object or a list that is open: its keys, or the number of entries so far. */
interface Open {
  readonly path: string;
  readonly keys: Set<string> | undefined;
  entry: string | number;
}

// JSON.parse() has accepted the text, so strings, brackets, commas and colons determine its structure.
function refuseRepeatedKeys(text: string): void {
  const open: Open[] = [];
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    const inner = open.at(-1);
    if (letter === '"') {
      const end = endOfString(text, at);
      if (isKey && inner?.keys !== undefined) {
        const key = JSON.parse(text.slice(at, end)) as string;
        if (inner.keys.has(key)) throw new OddJson(`a field occurs twice (${placeOf(inner.path, key)})`);
        inner.keys.add(key);
        inner.entry = key;
        isKey = false;
      }
      at = end - 1;
    } else if (letter === '{' || letter === '[') {
      const path = inner === undefined ? '' : placeOf(inner.path, inner.entry);
      open.push({ path, keys: letter === '{' ? new Set() : undefined, entry: 0 });
      isKey = letter === '{';
    } else if (letter === '}' || letter === ']') {
      open.pop();
      isKey = false;
    } else if (letter === ',' && inner !== undefined) {
      isKey = inner.keys !== undefined;
      if (typeof inner.entry === 'number') inner.entry++;
    }
  }
}

/** The place after the quote that ends the string at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function placeOf(path: string, entry: string | number): string {
  if (typeof entry === 'number') return `${path}[${entry}]`;
  const name = entry.length > 60 ? `${entry.slice(0, 57)}...` : entry;
  return path === '' ? name : `${path}.${name}`;
}
