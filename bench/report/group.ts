/** The items with the same key together, in the order of first appearance. */
export function group<T>(items: Iterable<T>, key: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = key(item);
    const members = groups.get(name);
    if (members === undefined) groups.set(name, [item]);
    else members.push(item);
  }
  return [...groups.values()];
}
