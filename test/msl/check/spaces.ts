// Checks that every pointer and every reference names its address space, and that variables outside of functions are
// in `constant`, in clang's syntax tree (-ast-dump=json) of a text compiled with -DMSL_CHECK_THREAD.

interface Place {
  readonly file?: string;
  readonly line?: number;
  readonly presumedFile?: string;
  readonly presumedLine?: number;
  readonly spellingLoc?: Place;
  readonly expansionLoc?: Place;
}

interface Node {
  readonly kind?: string;
  readonly name?: string;
  readonly isImplicit?: boolean;
  readonly loc?: Place;
  readonly range?: { readonly begin?: Place; readonly end?: Place };
  readonly type?: { readonly qualType: string };
  readonly inner?: readonly Node[];
}

const named =
  /\bconst __attribute__\(\(address_space\(\d+\)\)\)|__attribute__\(\(address_space\(\d+\)\)\)|\b(?:device|threadgroup|thread|constant)\b/g;

/** True if a pointer or reference in the type has no named address space. */
export function namesNoSpace(type: string): boolean {
  const levels = type.replace(named, '@').split(/&&|[*&]/);
  return levels.slice(0, -1).some((pointee) => !pointee.includes('@'));
}

/** One line for each declaration that names no space. */
export function namelessSpaces(tree: Node): string[] {
  const wrong = new Set<string>();
  // The dump has a file and a line only if they differ from the previous ones.
  let file = '';
  let line = 0;
  const follow = (place: Place | undefined) => {
    for (const each of [place?.spellingLoc, place?.expansionLoc, place]) {
      file = each?.presumedFile ?? each?.file ?? file;
      line = each?.presumedLine ?? each?.line ?? line;
    }
  };
  const visit = (node: Node, outside: boolean) => {
    follow(node.loc);
    const at = `${file}:${line}`;
    const ours = /\.(?:metal|h)$/.test(file);
    follow(node.range?.begin);
    follow(node.range?.end);
    if (node.isImplicit) return;
    const type = node.type?.qualType ?? '';
    if (ours && /^(?:ParmVar|Var|Field|Typedef|TypeAlias)Decl$/.test(node.kind ?? '') && namesNoSpace(type))
      wrong.add(`${at}: error: the pointer or reference names no address space (${type} ${node.name ?? ''})`);
    if (ours && node.kind === 'FunctionDecl' && namesNoSpace(type.replace(named, '@').replace(/\(.*/s, '')))
      wrong.add(`${at}: error: the result names no address space (${node.name ?? ''})`);
    if (ours && outside && node.kind === 'VarDecl' && !type.replace(named, '@').includes('@'))
      wrong.add(`${at}: error: what stands outside of functions is not in constant (${type} ${node.name ?? ''})`);
    const still = outside && /^(?:TranslationUnit|Namespace|LinkageSpec)Decl$/.test(node.kind ?? '');
    for (const child of node.inner ?? []) visit(child, still);
  };
  visit(tree, true);
  return [...wrong];
}
