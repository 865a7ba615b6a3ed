// Checks what a C++ compiler can't know about a kernel: its arguments' indices and places, and our pragma. Reads the
// text.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const msl = fileURLToPath(new URL('../../../msl', import.meta.url));

// Scalars of a threadgroup and its simdgroups; those of the grid may be vectors, all of one length.
const scalarPlaces =
  /^(?:thread_index_in_(?:threadgroup|simdgroup|quadgroup)|threads_per_simdgroup|simdgroups_per_threadgroup|simdgroup_index_in_threadgroup)$/;
const gridPlaces =
  /^(?:thread_position_in_(?:grid|threadgroup)|threadgroup_position_in_grid|threads_per_(?:grid|threadgroup)|threadgroups_per_grid|dispatch_threads_per_threadgroup)$/;

/** `a, b<c, d>, e` by its outer commas. */
function split(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const letter of list) {
    if ('(<['.includes(letter)) depth++;
    if (')>]'.includes(letter)) depth--;
    if (letter === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function brokenByKernel(name: string, list: string): string[] {
  const wrong: string[] = [];
  const taken = new Set<string>();
  const lengths = new Set<string>();
  for (const argument of split(list)) {
    const attributes = [...argument.matchAll(/\[\[(\w+)(?:\((\w+)\))?\]\]/g)];
    const [, word = '', index] = attributes[0] ?? [];
    const says = (law: string) => wrong.push(`${name}: error: ${law} (${argument})`);
    if (attributes.length !== 1) {
      says('the argument has not one attribute');
      continue;
    }
    if (/[*&]/.test(argument.replace(/\[\[.*/s, ''))) {
      const wanted = /\bthreadgroup\b[^[]*[*&]/.test(argument) ? 'threadgroup' : 'buffer';
      if (word !== wanted || index === undefined) says(`the argument has no [[${wanted}(n)]]`);
      if (taken.has(`${word} ${index}`)) says('the index is taken');
      taken.add(`${word} ${index}`);
      continue;
    }
    const [, type = ''] = /^(?:const\s+)?(\w+)/.exec(argument) ?? [];
    if (!/^u(?:int|short)[23]?$/.test(type)) says('a place is a uint or ushort');
    if (gridPlaces.test(word)) lengths.add(type);
    else if (!scalarPlaces.test(word)) says('the attribute names no place of a thread');
    else if (/\d/.test(type)) says('the place is a scalar');
  }
  if (lengths.size > 1) wrong.push(`${name}: error: the places have different types (${[...lengths].join(', ')})`);
  return wrong;
}

/** The text of a file without comments, with each of its own headers inserted once. */
function textOf(folder: string, name: string, seen = new Set<string>()): string {
  const path = join(folder, name);
  if (seen.has(name) || !existsSync(path)) return '';
  seen.add(name);
  const plain = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
  return plain.replace(/^\s*#\s*include\s*"([^"]*)"/gm, (_, own: string) => textOf(folder, own, seen));
}

/** The rules for kernels that a folder's .metal files break. */
export function brokenLaws(folder: string = msl): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.metal'));
  return names.sort().flatMap((name) => {
    const text = textOf(folder, name);
    const plain = text.replaceAll(/THREADGROUP_MEMORY\((\w+)\)/g, '[[threadgroup($1)]]');
    const wrong = [...plain.matchAll(/\bkernel\s+([\w:]+)\s+(\w+)\s*\(([^{]*)\)\s*\{/g)].flatMap(
      ([, result, kernel, list]) => [
        ...(result === 'void' ? [] : [`${name}: ${kernel}: error: a kernel gives something back (${result})`]),
        ...brokenByKernel(`${name}: ${kernel}`, list!),
      ],
    );
    // Kernels have the same bits everywhere. A pragma takes effect from its line on, so it comes before the first
    // function.
    const [beforeCode] = text.split('{', 1);
    if (!/^\s*#\s*pragma\s+METAL\s+fp\s+contract\(off\)/m.test(beforeCode!))
      wrong.push(`${name}: error: the text lacks its pragma before its first function (METAL fp contract(off))`);
    return wrong;
  });
}
