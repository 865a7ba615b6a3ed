// Headers of Foundation, Metal and MetalPerformanceShaders that are good enough for a type check on any system, made at
// test time from the metadata. `writeStubs(folder)` writes them; there is no implementation behind them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnums, useKey } from './enums.ts';
import * as gaps from './gaps.ts';
import { type CType, type Member, type Owner, packageFolder, readMetadata, type Signature } from './metadata.ts';

type Framework = 'Foundation' | 'Metal' | 'MetalPerformanceShaders';

const foundation =
  /^NS(Object|String|MutableString|Error|Array|MutableArray|Dictionary|MutableDictionary|Enumerator|Set|Number|Value|URL|Data|Bundle|ProcessInfo|Date|AutoreleasePool|Thread|Exception)$/;
const foundationProtocols = /^NS(ObjectProtocol|Copying|MutableCopying|Coding|SecureCoding|FastEnumeration|Locking)$/;
const scalars: Readonly<Record<string, string>> = {
  char: 'signed char',
  int: 'int',
  short: 'short',
  long: 'NSInteger',
  int64: 'NSInteger',
  uchar: 'unsigned char',
  uint: 'unsigned int',
  ushort: 'unsigned short',
  ulong: 'NSUInteger',
  uint64: 'NSUInteger',
  float: 'float',
  double: 'double',
  BOOL: 'BOOL',
  void: 'void',
  cstring: 'const char *',
  id: 'id',
  instancetype: 'instancetype',
  NSString: 'NSString *',
  NSMutableString: 'NSMutableString *',
  Class: 'Class',
  SEL: 'SEL',
  fnptr: 'void *',
};

/** The spelling of NSObject's protocol; everywhere else a protocol has its own name. */
const protocolName = (name: string): string => (name === 'NSObjectProtocol' ? 'NSObject' : name);

const frameworkOf = (name: string): Framework =>
  name.startsWith('MTL') ? 'Metal' : name.startsWith('MPS') ? 'MetalPerformanceShaders' : 'Foundation';

const head = `#pragma once
#include <stddef.h>
#include <stdint.h>
// A bool on arm64; with -DAPPLE_API_X86_64 a character, as it is there.
#ifdef APPLE_API_X86_64
typedef signed char BOOL;
#else
typedef bool BOOL;
#endif
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil nullptr
#define Nil nullptr
#define NS_ENUM(type, name) enum name : type name; enum name : type
#define NS_OPTIONS(type, name) type name; enum : type
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef struct _NSZone NSZone;
`;

export function writeStubs(folder: string): void {
  const { classes, protocols, functions, structs } = readMetadata();
  const { enums, uses } = readEnums();
  const text: Record<Framework, { types: string[]; owners: string[]; functions: string[] }> = {
    Foundation: { types: [], owners: [], functions: [] },
    Metal: { types: [], owners: [], functions: [] },
    MetalPerformanceShaders: { types: [], owners: [], functions: [] },
  };
  const isOurs = (owner: Owner) => /^(?:MTL(?!4FX)|MPS(?:Matrix|Vector|Kernel))/.test(owner.name);
  const wantedClasses = [...classes.values()].filter((each) => isOurs(each) || foundation.test(each.name));
  const wantedProtocols = [...protocols.values()].filter((each) => isOurs(each) || foundationProtocols.test(each.name));
  const isWanted = new Set([...wantedClasses, ...wantedProtocols]);
  const mentioned = { classes: new Set(wantedClasses.map((each) => each.name)), protocols: new Set<string>() };
  for (const { name } of wantedProtocols) mentioned.protocols.add(name);

  const declaredStructs = new Set<string>();
  function declareStruct(name: string): void {
    if (declaredStructs.has(name)) return;
    declaredStructs.add(name);
    const fields = (structs.get(name) ?? []).map(([field, type]) =>
      type.kind === 'array' ? `${spell(type.of!)} ${field}[${type.length}];` : `${spell(type)} ${field};`,
    );
    // Objective-C's typedefs leave the underscore out.
    const alias = name.replace(/^_/, '');
    text[frameworkOf(alias)].types.push(`typedef struct ${name} { ${fields.join(' ')} } ${alias};`);
  }

  /**
   * The C spelling of a type. The metadata do not tell pointers that a call reads from those that it writes: a
   * parameter is const.
   */
  function spell(type: CType, isParameter = false): string {
    switch (type.kind) {
      case 'id<>': {
        for (const name of type.protocols!) mentioned.protocols.add(name);
        return `id<${type.protocols!.map(protocolName).join(', ')}>`;
      }
      case 'class':
        if (type.name === undefined) return 'id';
        mentioned.classes.add(type.name);
        return `${type.name} *`;
      case 'struct':
        if (type.name === undefined) return 'NSUInteger';
        declareStruct(type.name);
        return `struct ${type.name}`;
      case 'block': {
        const parameters = type.block!.parameters.map((each) => spell(each, false));
        return `${spell(type.block!.result)} (^)(${parameters.join(', ') || 'void'})`;
      }
      case 'pointer': {
        const to = spell(type.of!);
        if (/^(?:id|id<>|class|NSString|NSMutableString)$/.test(type.of!.kind)) return `${to} __autoreleasing *`;
        return `${isParameter && !to.endsWith('*') ? 'const ' : ''}${to} *`;
      }
      case 'uint8': // a BOOL in a result, a byte in a parameter
        return isParameter ? 'uint8_t' : 'BOOL';
      case 'array':
        return `${spell(type.of!)} *`;
      case 'void*':
        return isParameter ? 'const void *' : 'void *';
      default:
        return scalars[type.kind] ?? 'NSUInteger';
    }
  }

  /** The types of a signature, with its enumerations by name. */
  function spellAll({ result, parameters }: Signature, key: string): { result: string; parameters: string[] } {
    const use = uses.get(key);
    const named = (name: string | undefined, type: CType, isParameter: boolean) =>
      name !== undefined && enums.has(name) && type.kind.endsWith('64') ? name : spell(type, isParameter);
    return {
      result: named(use?.result, result, false),
      parameters: parameters.map((each, index) => named(use?.parameters[index], each, true)),
    };
  }

  function declareMember(owner: Owner, selector: string, { signature, property }: Member): string {
    const name = selector.slice(1);
    const { result, parameters } = spellAll(signature, useKey(owner.name, name));
    if (property && !property.isGetter) return ''; // its property declares it
    const isStatic = selector.startsWith('+') ? ', class' : '';
    if (property) {
      const getter = property.name === name ? '' : `, getter=${name}`;
      return `@property(${property.readonly ? 'readonly' : 'readwrite'}${getter}${isStatic}) ${result} ${property.name};`;
    }
    // A property with a custom getter is recognized by its type alone: a method that returns a BOOL has another type.
    const [, own] = /^is([A-Z]\w*)$/.exec(name) ?? [];
    if (own !== undefined && signature.result.kind === 'uint8') {
      const access = owner.members.has(`-set${own}:`) ? 'readwrite' : 'readonly';
      return `@property(${access}, getter=${name}${isStatic}) BOOL ${own[0]!.toLowerCase()}${own.slice(1)};`;
    }
    const words = name.split(':');
    if (words.length - 1 !== parameters.length) return ''; // a variable number of arguments, which the metadata lack
    const list = parameters.map((type, index) => `${words[index]}:(${type})a${index}`).join(' ');
    return `${selector[0]} (${result})${parameters.length === 0 ? name : list};`;
  }

  const declared = new Set<Owner>();
  function declareOwner(owner: Owner, isClass: boolean): void {
    if (declared.has(owner) || !isWanted.has(owner)) return;
    declared.add(owner);
    const parent = owner.super === undefined ? undefined : classes.get(owner.super);
    if (parent) declareOwner(parent, true);
    const adopted = owner.protocols.map((name) => protocols.get(name)!).filter((each) => isWanted.has(each));
    for (const each of adopted) declareOwner(each, false);
    const members = [...owner.members].map(([selector, member]) => declareMember(owner, selector, member));
    const parents = parent && isWanted.has(parent) ? ` : ${parent.name}` : '';
    const names = adopted.length > 0 ? ` <${adopted.map((each) => protocolName(each.name)).join(', ')}>` : '';
    const name = isClass ? `${owner.name}${gaps.generics[owner.name] ?? ''}${parents}` : protocolName(owner.name);
    const root = isClass && parents === '' ? '__attribute__((objc_root_class)) ' : '';
    const all = [...members, ...(gaps.members.get(owner.name) ?? [])].filter((each) => each !== '');
    text[frameworkOf(owner.name)].owners.push(
      `${root}@${isClass ? 'interface' : 'protocol'} ${name}${names}\n${all.join('\n')}\n@end`,
    );
  }
  for (const each of wantedProtocols) declareOwner(each, false);
  for (const each of wantedClasses) declareOwner(each, true);

  for (const [name, signature] of functions) {
    if (!/^(?:MTL|MPSSupports)/.test(name)) continue;
    const { result, parameters } = spellAll(signature, useKey('', name));
    text[frameworkOf(name)].functions.push(`extern "C" ${result} ${name}(${parameters.join(', ')});`);
  }
  const taken = new Set<string>();
  for (const [name, constants] of enums) {
    const type =
      gaps.underlyingTypes.get(name) ??
      ([...constants.values()].some((each) => each < 0n) ? 'NSInteger' : 'NSUInteger');
    const kind = gaps.flags.includes(name) ? 'NS_OPTIONS' : 'NS_ENUM';
    const free = [...constants].filter(([each]) => !taken.has(each) && !classes.has(each));
    for (const [each] of free) taken.add(each);
    text[frameworkOf(name)].types.unshift(
      `typedef ${kind}(${type}, ${name}) { ${free.map(([each, value]) => `${each} = (${type})${value}${value < 0n ? '' : 'UL'}`).join(', ')} };`,
    );
  }

  const before = {
    Foundation: [
      head,
      ...[...mentioned.classes].map((name) => `@class ${name}${gaps.generics[name] ?? ''};`),
      ...[...mentioned.protocols].map((name) => `@protocol ${protocolName(name)};`),
    ],
    Metal: ['#pragma once', '#import <Foundation/Foundation.h>'],
    MetalPerformanceShaders: ['#pragma once', '#import <Metal/Metal.h>'],
  };
  for (const framework of ['Foundation', 'Metal', 'MetalPerformanceShaders'] as const) {
    const strings = [
      ...readFileSync(join(packageFolder, 'types', `${framework}.d.ts`), 'utf8').matchAll(
        /^declare const (\w+): string;$/gm,
      ),
    ].map(([, name]) => `extern "C" NSString *const ${name};`);
    const parts = text[framework];
    mkdirSync(join(folder, framework), { recursive: true });
    writeFileSync(
      join(folder, framework, `${framework}.h`),
      [
        ...before[framework],
        ...parts.types,
        ...gaps.types[framework]!,
        ...gaps.functions[framework]!,
        ...strings,
        ...parts.owners,
        ...parts.functions,
        '',
      ].join('\n'),
    );
  }
  mkdirSync(join(folder, 'dispatch'), { recursive: true });
  writeFileSync(join(folder, 'dispatch/dispatch.h'), ['#pragma once', ...gaps.dispatch, ''].join('\n'));
}
