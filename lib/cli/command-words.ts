/**
 * A message of the library in the words of the command line, whose options are `options` (`--fixed-mean`): it names
 * arguments as a program writes them, and puts what is typed beside some of them, as in "pass `header` false
 * (--no-header)". A hint to an option that the command lacks is left out.
 */
export function commandWords(message: string, options: readonly string[]): string {
  const isLacking = (hint: string) => [...hint.matchAll(/--[\w-]+/g)].some(([option]) => !options.includes(option));
  return message
    .replace(/; pass [^;:]*\(--[^;:]*/g, (hint) => (isLacking(hint) ? /\.?$/.exec(hint)![0] : hint))
    .replace(/ \(\w+: '\w+', or --[^)]*\)/g, (hint) => (isLacking(hint) ? '' : hint))
    .replace(/`dtype: '(float64)'`/g, options.includes('--dtype') ? '--dtype $1' : '$&')
    .replace(/`\w+`(?: [^`().,;:]+)? \((--[^)]+)\)/g, '$1')
    .replace(/\w+: '\w+', or (--[^,)]+),?/g, '$1')
    .replace(/^`moments` has/, 'Data has')
    .replace(/`([a-z]\w*)(?:\[(\d+)\])?`|(?<=^Option )\((\w+)\)/gi, (marked, argument, entry, option) => {
      const name = (argument ?? option).replace(/[A-Z]/g, (letter: string) => `-${letter.toLowerCase()}`);
      const typed = [`--${name}`, `--fixed-${name}`].find((each) => options.includes(each));
      if (typed === undefined) return marked;
      if (entry !== undefined) return `${typed} entry (${entry})`;
      return argument === undefined ? `(${typed})` : typed;
    });
}
