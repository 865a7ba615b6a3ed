import type { Node } from 'acorn';
import { printedMathNames } from './mathematics.ts';
import type { SourceText } from './source-text.ts';
import type { Expression, Instance, NumbersInside, ValueType, Variable } from './tree.ts';

/** What a name of the text stands for. */
export type Meaning =
  | Variable
  | NumbersInside
  /** The parameter that holds all arguments, or what a thread knows. */
  | { readonly kind: 'arguments'; readonly members: ReadonlyMap<string, Variable | NumbersInside> }
  | { readonly kind: 'thread' }
  /** A function of the thread, such as barrier. */
  | { readonly kind: 'thread function'; readonly name: string };

// What a printed name must not be, in Metal, C++ or JavaScript.
const reserved = new Set(
  `alignas alignof and and_eq asm atomic auto bitand bitor bool break case catch char class compl const constant
  constexpr continue covarium debugger decltype default delete device do double dynamic_cast else enum explicit export
  extern false float for friend function goto half if in inline instanceof int kernel let long metal mutable namespace
  new noexcept not not_eq null nullptr operator or or_eq private protected public ray_data register reinterpret_cast
  return sampler short signed sizeof static static_cast struct super switch template texture this thread threadgroup
  throw true try typedef typeid typename typeof uchar uint ulong undefined union unsigned user_kernel ushort using var
  vertex fragment virtual void volatile while with xor xor_eq yield await arguments eval async static_assert
  as_type select size_t packed sample main std slots grid place NAN INFINITY llong ullong complex imaginary restrict
  assert vec matrix MAXFLOAT MAXHALF HUGE_VAL HUGE_VALF HUGE_VALH
  position positions gridSize inGroup groupAt groupSize threadAt Infinity NaN Math runtime fround imul`.split(/\s+/),
);

/** A name that both languages take, and that is none of `taken`. */
export function printedName(wanted: string, taken: (name: string) => boolean): string {
  // C++ reserves names with two underscores side by side.
  const single = (name: string) => name.replace(/__+/g, '_');
  const plain = single(wanted.replace(/[^A-Za-z0-9_]/gu, '_'));
  const first = /^[0-9_]/.test(plain) || isReserved(plain) ? single(`v_${plain}`) : plain;
  let name = first;
  for (let count = 2; taken(name) || isReserved(name); count++) name = single(`${first}_${count}`);
  return name;
}

function isReserved(name: string): boolean {
  return (
    reserved.has(name) ||
    printedMathNames.has(name) ||
    /^(?:u?int|float|half|bfloat|bool|char|u?short|simd|quad|atomic)/.test(name) ||
    // Macros of <metal_types> and of C's headers.
    /^(?:FLT|DBL|HALF|FP|M|CHAR|SCHAR|UCHAR|U?(?:SHRT|INT|LONG|LLONG)|LLONG)_/.test(name)
  );
}

/** The names of a block and of those around it. */
export class Scope {
  readonly #outer: Scope | undefined;
  readonly #meanings: Map<string, Meaning> = new Map();
  readonly #printed: Set<string> = new Set();

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  /** What a name means; undefined if nothing in the text declares it. */
  find(name: string): Meaning | undefined {
    return this.#meanings.get(name) ?? this.#outer?.find(name);
  }

  /** Gives a name its meaning. */
  add(name: string, meaning: Meaning): void {
    this.#meanings.set(name, meaning);
  }

  /** A printed name that no name around here has. */
  printed(wanted: string): string {
    const name = printedName(wanted, (each) => this.#isPrinted(each));
    this.#printed.add(name);
    return name;
  }

  #isPrinted(name: string): boolean {
    if (this.#printed.has(name)) return true;
    return this.#outer === undefined ? false : this.#outer.#isPrinted(name);
  }
}

/** What expressions and statements share while the types of one function are found. */
export interface Context {
  readonly source: SourceText;
  /** What `uses` gives, by name. */
  readonly own: ReadonlyMap<string, unknown>;
  /** The locals, by the node that declares them: they are the same in each round. */
  readonly locals: Map<Node, Variable | NumbersInside>;
  /** True in the last round, in which each type is known and whatever does not fit is refused. */
  strict: boolean;
  /** Set if a local has got another type. */
  changed: boolean;
  /** Marks a place of the thread as used. */
  place(name: string): Variable;
  /** Says that the text asks for the length of an array of the device. */
  lengthOf(node: Node, numbers: NumbersInside): void;
  /**
   * The value of a node; `alone` if it is the whole of a statement's right side, where functions may change something.
   */
  value(scope: Scope, node: Node, alone?: boolean): Expression;
  /** The function of `uses` for arguments of these types. */
  call(node: Node, name: string, values: readonly (ValueType | NumbersInside)[]): Instance;
  /** Says that the function writes to an array. */
  effect(): void;
  /** The scope of a kernel's body; undefined for functions of `uses`, which have no barrier, shared memory or log. */
  readonly kernelScope: Scope | undefined;
  /** Adds an array that the group shares. */
  share(numbers: NumbersInside): void;
  /** Says that the text waits at a barrier, or that only the reference device obeys a line. */
  note(what: 'barrier' | 'debug', node: Node): void;
  /** What a function of `uses` returns. */
  readonly result: Variable;
}
