// What headers declare under Metal's and MPS's names, from clang's syntax tree of them (-ast-dump=json).

export interface Shape {
  /** Canonical types: typedefs resolved, without const, which the metadata lack. */
  readonly result: string;
  readonly parameters: readonly string[];
}

export interface Property {
  readonly type: string;
  readonly isReadonly: boolean;
  readonly getter: string;
}

export interface DeclaredOwner {
  readonly super: string | undefined;
  readonly protocols: readonly string[];
  readonly members: ReadonlyMap<string, Shape>; // by '+' or '-' and the selector, accessors included
  readonly properties: ReadonlyMap<string, Property>;
}

export interface Declarations {
  /** A protocol's name is in brackets: NSObject is one and a class. */
  readonly owners: ReadonlyMap<string, DeclaredOwner>;
  readonly functions: ReadonlyMap<string, string>; // types
  readonly variables: ReadonlyMap<string, string>;
  readonly structs: ReadonlyMap<string, readonly string[]>; // `type name` of each field
  readonly enums: ReadonlyMap<string, string>; // underlying types, flags' included
  readonly constants: ReadonlyMap<string, bigint>;
}

interface Type {
  readonly qualType: string;
  readonly desugaredQualType?: string;
}

interface Node {
  readonly kind?: string;
  readonly name?: string;
  readonly type?: Type;
  readonly returnType?: Type;
  readonly fixedUnderlyingType?: Type;
  readonly instance?: boolean;
  readonly readonly?: boolean;
  readonly getter?: { readonly name: string };
  readonly super?: { readonly name: string };
  readonly protocols?: readonly { readonly name: string }[];
  readonly value?: string;
  readonly inner?: readonly Node[];
}

/** Without the types of elements, which the metadata lack: NSArray<id<MTLBinding>> is NSArray. */
function withoutElements(type: string): string {
  const at = /\bNS\w+</.exec(type);
  if (at === null) return type;
  const from = at.index + at[0].length - 1;
  let depth = 0;
  for (let to = from; to < type.length; to++) {
    if (type[to] === '<') depth++;
    if (type[to] === '>' && --depth === 0) return withoutElements(type.slice(0, from) + type.slice(to + 1));
  }
  return type;
}

export function declarationsOf(tree: unknown): Declarations {
  const owners = new Map<string, DeclaredOwner>();
  const functions = new Map<string, string>();
  const variables = new Map<string, string>();
  const structs = new Map<string, string[]>();
  const enums = new Map<string, string>();
  const constants = new Map<string, bigint>();
  const typedefs = new Map<string, string>();

  function canonical(type: Type | undefined): string {
    let text = type?.qualType ?? 'void';
    for (let before = ''; before !== text; ) {
      before = text;
      text = text.replace(/\b[A-Za-z_]\w*\b/g, (word) => typedefs.get(word) ?? word);
    }
    return withoutElements(text)
      .replace(/\b(?:const|struct|enum|__autoreleasing|__strong|_Nullable|_Nonnull|NS_RETURNS_RETAINED)\b/g, '')
      .replace(/\b_NS(?=[A-Z])/g, 'NS')
      .replace(/\s+/g, ' ')
      .replace(/ ?([*(),^<>]) ?/g, '$1')
      .trim();
  }

  function readOwner(node: Node): void {
    const isClass = node.kind === 'ObjCInterfaceDecl';
    const members = new Map<string, Shape>();
    const properties = new Map<string, Property>();
    for (const each of node.inner ?? []) {
      if (each.kind === 'ObjCMethodDecl')
        members.set(`${each.instance ? '-' : '+'}${each.name}`, {
          result: canonical(each.returnType),
          parameters: (each.inner ?? [])
            .filter(({ kind }) => kind === 'ParmVarDecl')
            .map(({ type }) => canonical(type)),
        });
      if (each.kind === 'ObjCPropertyDecl')
        properties.set(each.name!, {
          type: canonical(each.type),
          isReadonly: each.readonly === true,
          getter: each.getter?.name ?? each.name!,
        });
    }
    const protocols = (node.protocols ?? []).map(({ name }) => `<${name}>`);
    // A class that is only forward-declared has none of these yet.
    if (members.size > 0 || properties.size > 0 || node.super?.name !== undefined || protocols.length > 0)
      owners.set(isClass ? node.name! : `<${node.name}>`, { super: node.super?.name, protocols, members, properties });
  }

  function readConstants(node: Node): void {
    let next = 0n;
    for (const each of node.inner ?? []) {
      if (each.kind !== 'EnumConstantDecl') continue;
      const value = each.inner?.find(({ kind }) => kind === 'ConstantExpr')?.value;
      next = value === undefined ? next : BigInt(value);
      constants.set(each.name!, next);
      next += 1n;
    }
  }

  const isOurs = (name: string | undefined) => /^M(?:TL|PS)[A-Z]/.test(name ?? '');
  let nameless: Node | undefined; // a struct that the next typedef names
  const visit = (node: Node) => {
    const name = node.name ?? '';
    if (node.kind === 'LinkageSpecDecl') for (const each of node.inner ?? []) visit(each);
    if (node.kind === 'EnumDecl') {
      readConstants(node);
      if (isOurs(name)) enums.set(name, canonical(node.fixedUnderlyingType));
    }
    const fields = (of: Node) =>
      (of.inner ?? []).filter(({ kind }) => kind === 'FieldDecl').map((each) => `${canonical(each.type)} ${each.name}`);
    if (node.kind === 'CXXRecordDecl') {
      nameless = name === '' ? node : undefined;
      if (isOurs(name) && fields(node).length > 0) structs.set(name, fields(node));
    }
    if (node.kind === 'TypedefDecl') {
      const type = node.type?.desugaredQualType ?? node.type?.qualType ?? '';
      if (nameless !== undefined && isOurs(name)) structs.set(name, fields(nameless));
      else if (isOurs(name) && /^(?:unsigned )?(?:int|long|char)$/.test(type)) enums.set(name, type);
      // A type that is not itself the name of a struct, an enumeration or a class is spelled out. SEL is `SEL *` to
      // clang.
      if (nameless === undefined && /[*^]/.test(type) && !new RegExp(`\\b${name}\\b`).test(type))
        typedefs.set(name, type);
      else if (/^(?:(?:un)?signed )?(?:int|long|short|char|double|float|bool|_Bool)$/.test(type))
        typedefs.set(name, type);
      nameless = undefined;
    }
    if (node.kind === 'ObjCInterfaceDecl' || node.kind === 'ObjCProtocolDecl') readOwner(node);
    if (node.kind === 'FunctionDecl' && isOurs(name)) functions.set(name, canonical(node.type));
    if (node.kind === 'VarDecl' && isOurs(name)) variables.set(name, canonical(node.type));
  };
  for (const each of (tree as Node).inner ?? []) visit(each);
  return { owners, functions, variables, structs, enums, constants };
}
