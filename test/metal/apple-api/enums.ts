// Apple's enumerations from the type declarations of @nativescript/macos-node-api, and where a selector takes or
// returns one: in the metadata that is only a 64-bit integer.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constantPrefixes } from './gaps.ts';
import { packageFolder } from './metadata.ts';

/** The enumerations in the signature of a selector or function, by place; undefined where the type is not one. */
interface EnumUse {
  readonly result: string | undefined;
  readonly parameters: readonly (string | undefined)[];
}

interface Enums {
  /** For each enumeration's name, its constants' full names and numbers. */
  readonly enums: ReadonlyMap<string, ReadonlyMap<string, bigint>>;
  /** By useKey. */
  readonly uses: ReadonlyMap<string, EnumUse>;
}

/** The key of a member: JavaScript's name of a selector is its words, joined; that of an accessor is its property's. */
export function useKey(owner: string, selector: string): string {
  const [first = '', ...rest] = selector.split(':').filter((word) => word !== '');
  return `${owner} ${first}${rest.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')}`;
}

const enumOf = (type: string): string | undefined => /^interop\.Enum<typeof (\w+)>$/.exec(type.trim())?.[1];

/** The types of a list of parameters; commas within brackets do not separate them. */
function parameterTypes(list: string): string[] {
  const types = [''];
  let depth = 0;
  for (const letter of list) {
    if ('(<{['.includes(letter)) depth++;
    if (')}]'.includes(letter) || (letter === '>' && !types.at(-1)!.endsWith('='))) depth--;
    if (letter === ',' && depth === 0) types.push('');
    else types[types.length - 1] += letter;
  }
  return types.map((each) => each.replace(/^\s*\w+\??:/, '').trim());
}

function usesOf(text: string): [string, EnumUse][] {
  const found: [string, EnumUse][] = [];
  const add = (owner: string, name: string, list: string | undefined, result: string) => {
    const parameters = list === undefined || list === '' ? [] : parameterTypes(list).map(enumOf);
    const use = { result: enumOf(result), parameters };
    if ([use.result, ...parameters].some((each) => each !== undefined)) found.push([`${owner} ${name}`, use]);
  };
  // A static method returns an object of the class that it is called on.
  const plain = text.replaceAll('<This extends abstract new (...args: any) => any>', '');
  for (const [, owner, body] of plain.matchAll(
    /^(?:declare class|interface|declare interface) (\w+)[^\n]*\{\n([\s\S]*?)^\}/gm,
  )) {
    for (const [, name, list, result] of body!.matchAll(/^ {2}(?:static )?(\w+)\??\((.*)\): ([^\n]*);$/gm))
      add(owner!, name!, list!.replace(/^this: This(?:, )?/, ''), result!);
    for (const [, name, result] of body!.matchAll(/^ {2}(?:static |readonly |get )*(\w+)\??(?:\(\))?: ([^\n(]*);$/gm))
      add(owner!, name!, undefined, result!);
  }
  for (const [, name, list, result] of text.matchAll(/^declare function (\w+)\((.*)\): ([^\n]*);$/gm))
    add('', name!, list, result!);
  return found;
}

export function readEnums(): Enums {
  const enums = new Map<string, Map<string, bigint>>();
  const uses = new Map<string, EnumUse>();
  for (const framework of ['Foundation', 'Metal', 'MetalPerformanceShaders']) {
    const text = readFileSync(join(packageFolder, 'types', `${framework}.d.ts`), 'utf8');
    for (const [, name, body] of text.matchAll(/^declare const (\w+): \{\n([^}]*)\n\};/gm)) {
      const prefix = constantPrefixes.get(name!) ?? name!;
      // The declarations omit the prefix, except in an enumeration with one constant. A name may not begin with a
      // digit, so there the prefix's last word stays.
      const [last = ''] = /[A-Z][a-z]*$/.exec(prefix) ?? [];
      const full = (key: string) => {
        if (key.startsWith(prefix)) return key;
        return prefix + (new RegExp(`^${last}\\d`).test(key) ? key.slice(last.length) : key);
      };
      const entries = [...body!.matchAll(/(\w+): (-?\d+)/g)];
      enums.set(name!, new Map(entries.map(([, key, value]) => [full(key!), BigInt(value!)])));
    }
    for (const [key, use] of usesOf(text)) uses.set(key, use);
  }
  return { enums, uses };
}
