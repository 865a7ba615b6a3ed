// Where a stand-in's headers declare something that Apple's API lacks or declares differently.
import type { Declarations, DeclaredOwner, Property, Shape } from './declarations.ts';

/** An owner, what it inherits from, and what these adopt. */
function* lineage(all: Declarations, name: string | undefined): Generator<[string, DeclaredOwner]> {
  const owner = name === undefined ? undefined : all.owners.get(name);
  if (owner === undefined) return;
  yield [name!, owner];
  for (const each of [...owner.protocols, owner.super]) yield* lineage(all, each);
}

function found<Value>(
  all: Declarations,
  name: string,
  of: (owner: DeclaredOwner) => Value | undefined,
): Value | undefined {
  for (const [, owner] of lineage(all, name)) {
    const value = of(owner);
    if (value !== undefined) return value;
  }
  return undefined;
}

const shown = ({ result, parameters }: Shape) => `${result} (${parameters.join(', ')})`;
const shownProperty = ({ type, isReadonly, getter }: Property) =>
  `${isReadonly ? 'readonly ' : ''}${type}, getter ${getter}`;

/** One line for each difference; `checked` counts the declarations that were looked up, by kind. */
export function differences(
  standIn: Declarations,
  apple: Declarations,
): { lines: string[]; checked: Record<string, number> } {
  const lines: string[] = [];
  const checked: Record<string, number> = {};
  const compare = (kind: string, name: string, here: string, there: string | undefined) => {
    checked[kind] = (checked[kind] ?? 0) + 1;
    if (there === undefined) lines.push(`${kind} ${name}: Apple has none`);
    else if (here !== there) lines.push(`${kind} ${name}: (${here}), but Apple has (${there})`);
  };
  for (const [name, owner] of standIn.owners) {
    if (!/^<?M(?:TL|PS)[A-Z]/.test(name)) continue;
    const kind = name.startsWith('<') ? 'protocol' : 'class';
    const theirs = apple.owners.get(name);
    compare(kind, name, name, theirs && name);
    if (theirs === undefined) continue;
    const ancestors = new Set([...lineage(apple, name)].map(([each]) => each));
    for (const each of [owner.super, ...owner.protocols])
      if (each !== undefined) compare('ancestor', `${name} ${each}`, each, ancestors.has(each) ? each : undefined);
    for (const [selector, shape] of owner.members) {
      const there = found(apple, name, ({ members }) => members.get(selector));
      compare('selector', `${selector[0]}[${name} ${selector.slice(1)}]`, shown(shape), there && shown(there));
    }
    for (const [property, own] of owner.properties) {
      const there = found(apple, name, ({ properties }) => properties.get(property));
      compare('property', `${name}.${property}`, shownProperty(own), there && shownProperty(there));
    }
  }
  const each = <Value>(kind: string, here: ReadonlyMap<string, Value>, there: ReadonlyMap<string, Value>) => {
    const shownValue = (value: Value | undefined) => (value === undefined ? undefined : String(value));
    for (const [name, value] of here)
      if (/^M(?:TL|PS)[A-Z]/.test(name)) compare(kind, name, String(value), shownValue(there.get(name)));
  };
  each('function', standIn.functions, apple.functions);
  each('variable', standIn.variables, apple.variables);
  each('struct', standIn.structs, apple.structs);
  each('enumeration', standIn.enums, apple.enums);
  each('constant', standIn.constants, apple.constants);
  return { lines, checked };
}
