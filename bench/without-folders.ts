import { homedir } from 'node:os';

// An absolute path up to its last part, or one that begins with `~`; not a slash that follows a word or another
// slash, as in GFLOP/s and in addresses.
const folders = /(?<![\w./\\-])(?:~|[A-Za-z]:)?[/\\](?:[^\s/\\:;,'"()<>]+[/\\])+(?=[^\s/\\:;,'"()<>])/g;

/**
 * `value` with this machine's paths cut to their last part in every text within it: a folder says who ran the
 * benchmark, and nothing about speed.
 */
export function withoutFolders<T>(value: T, home: string = homedir()): T {
  const cut = (text: string) => (home.length > 1 ? text.replaceAll(home, '~') : text).replace(folders, '');
  return JSON.parse(JSON.stringify(value), (_, each) => (typeof each === 'string' ? cut(each) : each));
}
