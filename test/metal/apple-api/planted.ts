// Plants mistakes in texts, as many at once as lie on different lines: a compiler reports all of them in one run.

interface Mistake {
  readonly right: RegExp;
  readonly wrong: string;
}

/** Texts by name, with some of the mistakes. */
interface Round {
  readonly texts: ReadonlyMap<string, string>;
  /** Where each mistake of the round is, by its place in the list: a text's name, and its first and last line. */
  readonly places: ReadonlyMap<number, readonly { readonly name: string; readonly lines: readonly [number, number] }[]>;
}

interface Change {
  readonly mistake: number;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly wrong: string;
}

/** The start of the line of one place, and the end of that of another. */
function linesAround(text: string, start: number, end: number): [number, number] {
  const behind = text.indexOf('\n', end);
  return [text.lastIndexOf('\n', start - 1) + 1, behind === -1 ? text.length : behind];
}

/**
 * Puts each mistake into the first round in which no other mistake shares a line with it. Throws if its text is
 * missing.
 */
export function planted(texts: ReadonlyMap<string, string>, mistakes: readonly Mistake[]): Round[] {
  const rounds: Change[][] = [];
  for (const [mistake, { right, wrong }] of mistakes.entries()) {
    const changes = [...texts].flatMap(([name, text]) => {
      const found = right.global ? [...text.matchAll(right)] : [right.exec(text)].filter((match) => match !== null);
      return found.map(({ index, 0: { length } }) => ({ mistake, name, start: index!, end: index! + length, wrong }));
    });
    if (changes.length === 0) throw new Error(`The text of a mistake is not there (${right}).`);
    const isApart = (one: Change, other: Change) => {
      if (one.name !== other.name) return true;
      const [begin, behind] = linesAround(texts.get(one.name)!, one.start, one.end);
      return other.end < begin || other.start > behind;
    };
    const fitting = rounds.find((round) => round.every((each) => changes.every((change) => isApart(each, change))));
    if (fitting === undefined) rounds.push(changes);
    else fitting.push(...changes);
  }
  return rounds.map((changes) => made(texts, changes));
}

function made(texts: ReadonlyMap<string, string>, changes: readonly Change[]): Round {
  const places = new Map<number, { name: string; lines: [number, number] }[]>();
  const changed = [...texts].map(([name, text]): [string, string] => {
    let [whole, from] = ['', 0];
    const lineHere = () => whole.split('\n').length;
    for (const { mistake, start, end, wrong } of changes
      .filter((change) => change.name === name)
      .sort((a, b) => a.start - b.start)) {
      whole += text.slice(from, start);
      const first = lineHere();
      whole += wrong;
      places.set(mistake, [...(places.get(mistake) ?? []), { name, lines: [first, lineHere()] }]);
      from = end;
    }
    return [name, whole + text.slice(from)];
  });
  return { texts: new Map(changed), places };
}
