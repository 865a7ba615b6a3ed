import { homedir } from 'node:os';

// An absolute path up to its last part, with a home folder as `~`; not what stands behind a word or a slash, as in
// GFLOP/s and in addresses.
const folders = /(?<![\w./\\-])(?:~|[A-Za-z]:)?[/\\](?:[^\s/\\:;,'"()<>]+[/\\])+(?=[^\s/\\:;,'"()<>])/g;

/**
 * `value` with paths of this machine cut to their last part, wherever in it a text is: a folder says who runs it, and
 * nothing of speed.
 */
export function withoutFolders<T>(value: T, home: string = homedir()): T {
  const cut = (text: string) => (home.length > 1 ? text.replaceAll(home, '~') : text).replace(folders, '');
  return JSON.parse(JSON.stringify(value), (_, each) => (typeof each === 'string' ? cut(each) : each));
}
