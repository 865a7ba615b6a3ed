// Apple's API from @nativescript/macos-node-api: classes, protocols, selectors and C types, read from the metadata
// (version 1) inside that package's Mach-O file, on any system. gaps.ts has what is missing there.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A C or Objective-C type. `kind` is a word of `kinds`; the rest depends on it. */
export interface CType {
  readonly kind: string;
  readonly name?: string | undefined; // class, struct
  readonly protocols?: readonly string[]; // id<>
  readonly of?: CType; // pointer, array
  readonly length?: number; // array
  readonly block?: Signature | undefined; // block
}

export interface Signature {
  readonly result: CType;
  readonly parameters: readonly CType[];
}

export interface Member {
  readonly signature: Signature;
  /** A getter's or setter's property. */
  readonly property?: { readonly name: string; readonly readonly: boolean; readonly isGetter: boolean };
}

export interface Owner {
  readonly name: string;
  readonly super: string | undefined;
  readonly protocols: readonly string[];
  /** By '+' or '-' and the selector. */
  readonly members: ReadonlyMap<string, Member>;
}

export interface Metadata {
  readonly classes: ReadonlyMap<string, Owner>;
  readonly protocols: ReadonlyMap<string, Owner>;
  readonly functions: ReadonlyMap<string, Signature>;
  readonly structs: ReadonlyMap<string, readonly (readonly [name: string, type: CType])[]>;
}

// In the order of their numbers in the metadata.
const kinds =
  'char int short long int64 uchar uint ushort ulong uint64 float double uint8 void cstring id id<> class instancetype NSString NSMutableString Class SEL array struct pointer void* fnptr BOOL block u128 longdouble vector extvector complex f16'.split(
    ' ',
  );
const sections = [
  'constants',
  'enums',
  'signatures',
  'functions',
  'protocols',
  'classes',
  'structs',
  'unions',
] as const;
const more = 0x80000000; // another entry follows
const mask = 0x7fffffff;
const stringsAt = 38;

/** The folder of the package. */
export const packageFolder: string = fileURLToPath(
  new URL('../../../node_modules/@nativescript/macos-node-api', import.meta.url),
);

function blob(): Buffer {
  const build = join(packageFolder, 'build');
  const path = readdirSync(build, { recursive: true, encoding: 'utf8' }).find((name) =>
    /macos-arm64\/NativeScript\.framework\/Versions\/[\d.]+\/NativeScript$/.test(name),
  );
  if (path === undefined) throw new Error(`There is no file with metadata in the folder (${build}).`);
  const bytes = readFileSync(join(build, path));
  for (let at = bytes.indexOf('NSMD'); at >= 0; at = bytes.indexOf('NSMD', at + 4))
    if (bytes.readUInt16LE(at + 4) === 1) return bytes.subarray(at);
  throw new Error(`There is no metadata of version 1 in the file (${path}).`);
}

export function readMetadata(): Metadata {
  const bytes = blob();
  let at = 0; // all that follows reads here and moves on
  const uint8 = () => bytes.readUInt8(at++);
  const uint16 = () => {
    at += 2;
    return bytes.readUInt16LE(at - 2);
  };
  const uint32 = () => {
    at += 4;
    return bytes.readUInt32LE(at - 4);
  };
  const start = Object.fromEntries(sections.map((name, index) => [name, bytes.readUInt32LE(6 + 4 * index)])) as Record<
    (typeof sections)[number],
    number
  >;
  const text = (offset: number) => {
    const from = stringsAt + (offset & mask);
    return bytes.toString('utf8', from, bytes.indexOf(0, from));
  };
  const nameIn = (section: (typeof sections)[number], offset: number) =>
    (offset & mask) === mask ? undefined : text(bytes.readUInt32LE(start[section] + (offset & mask)));
  /** A list of offsets, each but the last with the flag. */
  const chain = (first: number) => {
    const offsets = [first];
    for (let each = first; each & more; offsets.push(each)) each = uint32();
    return offsets;
  };

  function type(): [CType, number] {
    const flags = uint8();
    const kind = kinds[flags & 0x3f];
    if (kind === undefined) throw new Error(`The metadata have a type that is not known (${flags & 0x3f}).`);
    const body = (): Partial<CType> => {
      if (kind === 'array') return { length: uint16(), of: type()[0] };
      if (kind === 'pointer') return { of: type()[0] };
      if (kind === 'class') return { name: nameIn('classes', chain(uint32())[0]!) };
      if (kind === 'id<>') return { protocols: chain(uint32()).map((offset) => nameIn('protocols', offset) ?? '') };
      if (kind === 'block') return { block: signature(uint32()) };
      if (kind === 'fnptr') at += 4;
      if (kind !== 'struct') return {};
      const offset = uint32();
      return { name: nameIn(offset & more ? 'unions' : 'structs', offset) };
    };
    return [{ kind, ...body() }, flags];
  }

  // Many members share one.
  const known = new Map<number, Signature>();
  function signature(offset: number): Signature {
    const same = known.get(offset);
    if (same) return same;
    const kept = at;
    at = start.signatures + offset;
    let [result, flags] = type();
    const parameters: CType[] = [];
    while (flags & 0x80) {
      const [parameter, next] = type();
      parameters.push(parameter);
      flags = next;
    }
    at = kept;
    known.set(offset, { result, parameters });
    return { result, parameters };
  }

  function members(any: boolean): Map<string, Member> {
    const found = new Map<string, Member>();
    for (let again = any; again; ) {
      const flags = uint8();
      again = (flags & 0x80) !== 0;
      const sign = flags & 8 ? '+' : '-';
      const read = (property?: Member['property']) => {
        const selector = sign + text(uint32());
        const offset = uint32();
        if (offset !== mask) found.set(selector, { signature: signature(offset), ...(property && { property }) });
      };
      if (flags & 1) {
        const name = text(uint32());
        const readonly = (flags & 2) !== 0;
        read({ name, readonly, isGetter: true });
        if (!readonly) read({ name, readonly, isGetter: false });
      } else if (flags & 16) read();
    }
    return found;
  }

  const protocols = new Map<string, Owner>();
  for (at = start.protocols; at < start.classes; ) {
    const [offset = 0, ...adopted] = chain(uint32());
    const name = text(offset);
    const adopts = adopted.map((each) => nameIn('protocols', each) ?? '');
    const empty = bytes[at] === 0;
    if (empty) at++;
    protocols.set(name, { name, super: undefined, protocols: adopts, members: members(!empty) });
  }
  const classes = new Map<string, Owner>();
  for (at = start.classes; at < start.structs; ) {
    const first = uint32();
    at += 4;
    const [offset = 0, ...adopted] = chain(first);
    const adopts = adopted.map((each) => nameIn('protocols', each) ?? '');
    const parent = uint32();
    const name = text(offset);
    classes.set(name, {
      name,
      super: nameIn('classes', parent),
      protocols: adopts,
      members: members((parent & more) !== 0),
    });
  }
  const functions = new Map<string, Signature>();
  for (at = start.functions; at < start.protocols; ) functions.set(text(uint32()), signature(uint32()));
  const structs = new Map<string, [string, CType][]>();
  for (at = start.structs; at < start.unions; ) {
    const name = text(uint32());
    at += 2; // the size
    const fields: [string, CType][] = [];
    for (let again = true; again; ) {
      const offset = uint32();
      if ((offset & mask) === mask) break;
      again = (offset & more) !== 0;
      at += 2; // the offset within
      fields.push([text(offset), type()[0]]);
    }
    structs.set(name, fields);
  }
  return { classes, protocols, functions, structs };
}
