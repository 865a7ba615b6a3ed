import type { ScalarName } from './descriptor.ts';

// A kernel's text with a type for each expression: what the printers print.

/** The type of a value. */
export type ValueType = 'f32' | 'f64' | 'i32' | 'u32' | 'bool';

/** A literal's type before it is known what it meets: a whole number, or one with a fraction. */
export type Weak = 'whole' | 'fraction';

/** An array that the text indexes. */
export interface NumbersInside {
  readonly kind: 'numbers';
  readonly name: string;
  readonly element: ScalarName;
  /** Memory of the device, of the threadgroup, or of the thread. */
  readonly space: 'device' | 'shared' | 'own';
  readonly isWritten: boolean;
  /** Elements, of an array that the text makes. */
  readonly length: number;
  /** The same array for all functions that it is given to. */
  readonly root: ArrayUse;
}

/** How a kernel uses an array. */
interface ArrayUse {
  /** Set if an atomic function changes it: all accesses are then atomic. */
  isAtomic: boolean;
  /** The parameter that holds its length, set if the text asks for it. */
  lengthName: string | undefined;
}

/** A number with a name: a parameter, a position or a local. */
export interface Variable {
  readonly kind: 'variable';
  readonly name: string;
  /** Grows while types are found; undefined until something is assigned. */
  type: ValueType | Weak | undefined;
  readonly isConstant: boolean;
}

/** An expression of type T. */
export type Expression =
  | { readonly op: 'number'; readonly type: ValueType | Weak; readonly value: number }
  | { readonly op: 'boolean'; readonly type: 'bool'; readonly value: boolean }
  | { readonly op: 'variable'; readonly type: ValueType | Weak; readonly variable: Variable }
  | {
      readonly op: 'element';
      readonly type: ValueType;
      readonly numbers: NumbersInside;
      readonly index: Expression;
      readonly line: number;
    }
  | { readonly op: 'length'; readonly type: 'i32'; readonly numbers: NumbersInside }
  | { readonly op: 'unary'; readonly type: ValueType; readonly operator: '-' | '~' | '!'; readonly value: Expression }
  | {
      readonly op: 'binary';
      readonly type: ValueType;
      /** Both sides are of this type; a count of bits to shift by is i32 or u32. */
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
      /** Of a quotient of whole numbers: its sides before they became f32, which Math.trunc of it needs. */
      readonly whole?: readonly [left: Expression, right: Expression];
    }
  | {
      readonly op: 'compare' | 'logical';
      readonly type: 'bool';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly op: 'choice';
      readonly type: ValueType | Weak;
      readonly test: Expression;
      readonly yes: Expression;
      readonly no: Expression;
    }
  | { readonly op: 'convert'; readonly type: ValueType; readonly value: Expression }
  /** A function of mathematics: `name` is a key of the printers' tables. */
  | { readonly op: 'call'; readonly type: ValueType; readonly name: string; readonly values: readonly Expression[] }
  | {
      readonly op: 'own';
      /** Of a function that returns nothing, any. */
      readonly type: ValueType;
      readonly instance: Instance;
      readonly values: readonly (Expression | NumbersInside)[];
    }
  | {
      readonly op: 'atomic';
      readonly type: ValueType;
      readonly name: string;
      readonly numbers: NumbersInside;
      readonly index: Expression;
      readonly value: Expression;
      readonly line: number;
    };

/** A statement; `line` is that of the user's text, from 1. */
export type Statement = { readonly line: number } & (
  | { readonly op: 'declare'; readonly variable: Variable; readonly value: Expression | undefined }
  | { readonly op: 'array'; readonly numbers: NumbersInside }
  | { readonly op: 'assign'; readonly variable: Variable; readonly value: Expression }
  | { readonly op: 'store'; readonly numbers: NumbersInside; readonly index: Expression; readonly value: Expression }
  | { readonly op: 'evaluate'; readonly value: Expression }
  | { readonly op: 'block'; readonly body: readonly Statement[] }
  | {
      readonly op: 'if';
      readonly test: Expression;
      readonly yes: readonly Statement[];
      readonly no: readonly Statement[] | undefined;
    }
  | {
      readonly op: 'for';
      readonly begin: readonly Statement[];
      readonly test: Expression | undefined;
      readonly step: readonly Statement[];
      readonly body: readonly Statement[];
      /** True if the counter cannot wrap: it is compared with its end before each step, and changed nowhere else. */
      readonly isCounted: boolean;
    }
  | { readonly op: 'while' | 'do'; readonly test: Expression; readonly body: readonly Statement[] }
  | { readonly op: 'break' | 'continue' }
  | { readonly op: 'return'; readonly value: Expression | undefined }
  | { readonly op: 'barrier' }
  | { readonly op: 'debugger' }
  | { readonly op: 'log'; readonly values: readonly (Expression | string)[] }
);

/** A function of `uses`, for one list of types of its arguments. */
export interface Instance {
  readonly name: string;
  /** What messages call its text. */
  readonly path: string;
  readonly parameters: readonly (Variable | NumbersInside)[];
  type: ValueType | 'void';
  body: readonly Statement[];
  /** True if it writes to an array: it is then called in statements of its own. */
  hasEffect: boolean;
}

/** A parameter of a kernel, as its text calls it. */
export interface ProgramParameter {
  /** Its name in the descriptor. */
  readonly given: string;
  readonly inside: Variable | NumbersInside;
}

/** A kernel, checked. */
export interface Program {
  readonly name: string;
  /** What messages call its text. */
  readonly path: string;
  readonly parameters: readonly ProgramParameter[];
  /** Places that the text names, and the variables that it calls them by. */
  readonly places: ReadonlyMap<string, Variable>;
  readonly instances: readonly Instance[];
  readonly shared: readonly NumbersInside[];
  readonly body: readonly Statement[];
  readonly waits: boolean;
  /** Lines of console.log and debugger, which only the reference device obeys. */
  readonly debugLines: readonly number[];
}
