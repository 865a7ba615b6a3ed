/**
 * A message of the library in the words of the command line, whose options are `options` (`--fixed-mean`): it names
 * arguments as a program writes them, and puts what is typed beside some of them, as in "pass `header` false
 * (--no-header)".
 */
export function commandWords(message: string, options: readonly string[]): string {
  return message
    .replace(/`\w+`(?: [^`().,;:]+)? \((--[^)]+)\)/g, '$1')
    .replace(/\w+: '\w+', or (--[^,)]+),?/g, '$1')
    .replace(/^`moments` has/, 'Data has')
    .replace(/`([a-z]\w*)`|(?<=^Option )\((\w+)\)/gi, (marked, argument?: string, option?: string) => {
      const name = (argument ?? option)!.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      const typed = [`--${name}`, `--fixed-${name}`].find((each) => options.includes(each));
      if (typed === undefined) return marked;
      return argument === undefined ? `(${typed})` : typed;
    });
}
