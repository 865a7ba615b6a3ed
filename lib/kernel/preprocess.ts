import { describe, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { evaluate } from './expression.ts';
import { errorAt, type Hidden, quotedName, type Token, tokensOf } from './tokens.ts';

// A kernel's text as Metal's compiler reads it behind its preprocessor: one step for all devices, which needs no
// compiler. The kernels of a text, their arguments and what they use are read from its result.

/** The most characters of a kernel's text with its includes, and tokens of its macros' expansions. */
const longestText: number = 1 << 20;
const mostTokens = 4_000_000;

/** The deepest nesting of includes, as in compilers, and of calls of macros in their arguments. */
const deepest = 200;

/** The most macros that expand into each other. */
const longestChain = 1000;

/** What Metal's compiler defines, for Metal 3.1. */
const predefined: { readonly [name: string]: string } = {
  __METAL__: '1',
  __METAL_VERSION__: '310',
  __METAL_MACOS__: '1',
  __METAL_MEMORY_SCOPE_SYSTEM__: '3',
  __HAVE_BFLOAT__: '1',
  __cplusplus: '201402L',
  METAL_FUNC: 'inline',
  METAL_CONST: 'const',
};

interface Macro {
  readonly name: string;
  /** Undefined for a macro that is not called. */
  readonly parameters: readonly string[] | undefined;
  readonly isVariadic: boolean;
  readonly body: readonly Token[];
}

interface Condition {
  /** Its first directive. */
  readonly begin: Token;
  /** True in the branch that is taken. */
  live: boolean;
  taken: boolean;
  readonly outer: boolean;
}

/** A text behind the preprocessor. */
interface Preprocessed {
  readonly tokens: readonly Token[];
  /** The text with its includes written in, and its directives as they are, for Metal's compiler. */
  readonly flat: string;
}

/**
 * Preprocesses a text. `includes` are the texts that it may include, by name; each is included once. Throws
 * `ERR_INVALID_ARGUMENT` for an unknown include, `ERR_KERNEL_COMPILE` for a malformed directive, `ERR_TOO_LARGE`.
 */
export function preprocess(source: string, path: string, includes: { readonly [name: string]: string }): Preprocessed {
  return new Preprocessor(includes).run(source, path);
}

class Preprocessor {
  readonly #includes: { readonly [name: string]: string };
  readonly #macros: Map<string, Macro> = new Map();
  readonly #included: Set<string> = new Set();
  readonly #out: Token[] = [];
  #length = 0;
  #expanded = 0;
  #depth = 0;
  #counter = 0;

  constructor(includes: { readonly [name: string]: string }) {
    this.#includes = includes;
    for (const [name, text] of Object.entries(predefined))
      this.#macros.set(name, { name, parameters: undefined, isVariadic: false, body: tokensOf(text, '') });
  }

  run(source: string, path: string): Preprocessed {
    const flat = this.#file(source, path, 0);
    const stray = this.#out.find(({ text }) => text === '#' || text === '##');
    if (stray !== undefined) throw errorAt(stray, 'Mark (#) is not a directive', 'ERR_KERNEL_COMPILE');
    return { tokens: this.#out, flat };
  }

  #file(text: string, path: string, depth: number): string {
    if (depth > deepest)
      throw new CovariumError('ERR_TOO_LARGE', `Text of (${path}) is included more than (${deepest}) texts deep.`);
    if (typeof text !== 'string') throw wrongArgument(`\`includes['${describe(path)}']\``, text, 'a string');
    this.#length += text.length;
    if (this.#length > longestText)
      throw new CovariumError(
        'ERR_TOO_LARGE',
        `Text of the kernel has (${this.#length}) characters or more; the limit is (${longestText}).`,
      );
    const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
    const tokens = tokensOf(text, path);
    const conditions: Condition[] = [];
    let run: Token[] = [];
    let named: { readonly path: string; readonly lines: number } | undefined;
    for (let at = 0; at < tokens.length; ) {
      const live = conditions.at(-1)?.live ?? true;
      const token = tokens[at]!;
      if (!token.first || token.text !== '#') {
        if (live)
          run.push(named === undefined ? token : { ...token, path: named.path, line: token.line + named.lines });
        at++;
        continue;
      }
      let end = at + 1;
      while (end < tokens.length && !tokens[end]!.first) end++;
      const [name, ...rest] = tokens.slice(at + 1, end);
      at = end;
      if (name === undefined) continue;
      if (this.#condition(name, rest, conditions) || !live) continue;
      this.#flush(run);
      run = [];
      if (name.text === 'include' || name.text === 'import') {
        const last = (tokens[end]?.line ?? lines.length + 1) - 1;
        for (let line = token.line; line < Math.max(last, token.line); line++) lines[line] = '';
        lines[token.line - 1] = this.#include(name, rest, lines[name.line - 1]!, depth);
      } else if (name.text === 'pragma' && rest[0]?.text === 'once') lines[token.line - 1] = '';
      else if (name.text === 'line') {
        // The line that follows is called so.
        const line = Number(rest[0]?.text);
        const own = rest[1]?.kind === 'literal' ? rest[1].text.slice(1, -1) : (named?.path ?? path);
        if (!Number.isSafeInteger(line) || line < 0)
          throw errorAt(name, 'Directive (#line) has no number', 'ERR_KERNEL_COMPILE');
        named = { path: own, lines: line - (tokens[end - 1]!.line + 1) };
      } else this.#directive(name, rest);
    }
    this.#flush(run);
    const open = conditions.at(-1)?.begin;
    if (open !== undefined) throw errorAt(open, `Directive (#${open.text}) has no #endif`, 'ERR_KERNEL_COMPILE');
    return `#line 1 ${quotedName(path)}\n${lines.join('\n')}\n`;
  }

  #flush(run: readonly Token[]): void {
    for (const token of this.#expand(run)) this.#out.push(token);
  }

  /** True if the directive is one of a condition, which it then enters, changes or leaves. */
  #condition(name: Token, rest: readonly Token[], conditions: Condition[]): boolean {
    const outer = conditions.at(-1)?.live ?? true;
    const innermost = conditions.at(-1);
    const isDefined = () => this.#macros.has(rest[0]?.text ?? '');
    const enter = (holds: boolean) =>
      conditions.push({ begin: name, live: outer && holds, taken: outer && holds, outer });
    switch (name.text) {
      case 'if':
        enter(outer && this.#holds(name, rest));
        return true;
      case 'ifdef':
        enter(outer && isDefined());
        return true;
      case 'ifndef':
        enter(outer && !isDefined());
        return true;
      case 'elif':
      case 'else':
        if (innermost === undefined) throw errorAt(name, `Directive (#${name.text}) has no #if`, 'ERR_KERNEL_COMPILE');
        innermost.live = innermost.outer && !innermost.taken && (name.text === 'else' || this.#holds(name, rest));
        innermost.taken ||= innermost.live;
        return true;
      case 'endif':
        if (conditions.pop() === undefined) throw errorAt(name, 'Directive (#endif) has no #if', 'ERR_KERNEL_COMPILE');
        return true;
      default:
        return false;
    }
  }

  #holds(name: Token, rest: readonly Token[]): boolean {
    const known: Token[] = [];
    const number = (holds: boolean): Token => ({ ...name, kind: 'number', text: holds ? '1' : '0' });
    for (let at = 0; at < rest.length; at++) {
      const token = rest[at]!;
      const has = /^__has_|^__is_/.test(token.text);
      if (token.text !== 'defined' && !has) {
        known.push(token);
        continue;
      }
      const open = rest[at + 1]?.text === '(';
      const word = rest[at + (open ? 2 : 1)];
      known.push(number(!has && this.#macros.has(word?.text ?? '')));
      if (open) while (at < rest.length && rest[at]!.text !== ')') at++;
      else at++;
    }
    const value = evaluate(this.#expand(known), () => 0n);
    if (value === undefined) throw errorAt(name, `Condition of (#${name.text}) is not a number`, 'ERR_KERNEL_COMPILE');
    return value !== 0n;
  }

  #directive(name: Token, rest: readonly Token[]): void {
    switch (name.text) {
      case 'define':
        this.#define(name, rest);
        break;
      case 'undef':
        this.#macros.delete(rest[0]?.text ?? '');
        break;
      case 'error':
        throw errorAt(name, `Text says (#error ${rest.map(({ text }) => text).join(' ')})`, 'ERR_KERNEL_COMPILE');
      case 'pragma':
      case 'warning':
        break;
      default:
        throw errorAt(name, `Directive (#${name.text}) does not exist`, 'ERR_KERNEL_COMPILE');
    }
  }

  #include(name: Token, rest: readonly Token[], line: string, depth: number): string {
    const isSystem = rest[0]?.text === '<';
    const wanted = isSystem
      ? /<([^>]*)>/.exec(line)?.[1]
      : rest[0]?.kind === 'literal' && rest[0].text.startsWith('"')
        ? rest[0].text.slice(1, -1)
        : undefined;
    if (wanted === undefined)
      throw errorAt(name, 'Text has an include that is not a name in quotes', 'ERR_INVALID_ARGUMENT');
    const inner = Object.hasOwn(this.#includes, wanted) ? this.#includes[wanted] : undefined;
    if (inner === undefined) {
      // Metal's own headers are one header for us, which is always included.
      if (isSystem && /^(?:metal_\w+|simd\/\w+\.h|TargetConditionals\.h)$/.test(wanted))
        return wanted === 'TargetConditionals.h' ? '' : `#include <${wanted}>`;
      const there = Object.keys(this.#includes).join(', ');
      throw new CovariumError(
        'ERR_INVALID_ARGUMENT',
        `Text includes (${wanted}) at (${name.path}:${name.line}), which is not among the includes (${there}).`,
        { path: name.path, line: name.line },
      );
    }
    if (this.#included.has(wanted)) return '';
    this.#included.add(wanted);
    return `${this.#file(inner, wanted, depth + 1)}#line ${name.line + 1} ${quotedName(name.path)}`;
  }

  #define(directive: Token, [name, ...rest]: readonly Token[]): void {
    if (name?.kind !== 'word') throw errorAt(directive, 'Directive (#define) has no name', 'ERR_KERNEL_COMPILE');
    const isCalled =
      rest[0]?.text === '(' && rest[0].line === name.line && rest[0].column === name.column + name.text.length;
    if (!isCalled) {
      this.#macros.set(name.text, { name: name.text, parameters: undefined, isVariadic: false, body: rest });
      return;
    }
    const close = rest.findIndex(({ text }) => text === ')');
    if (close < 0) throw errorAt(name, `Macro (${name.text}) has no end of its parameters`, 'ERR_KERNEL_COMPILE');
    const list = rest.slice(1, close).filter(({ text }) => text !== ',');
    const isVariadic = list.at(-1)?.text === '...';
    const parameters = list.map(({ text }) => (text === '...' ? '__VA_ARGS__' : text));
    // `args...` names the rest.
    if (isVariadic && list.length > 1 && list.at(-2)!.kind === 'word' && rest[close - 2]!.text !== ',')
      parameters.pop();
    this.#macros.set(name.text, { name: name.text, parameters, isVariadic, body: rest.slice(close + 1) });
  }

  #expand(input: readonly Token[]): Token[] {
    const out: Token[] = [];
    const waiting = input.slice().reverse();
    for (let token = waiting.pop(); token !== undefined; token = waiting.pop()) {
      const macro =
        token.kind !== 'word' || isHidden(token.hidden, token.text) ? undefined : this.#macros.get(token.text);
      if (macro === undefined) {
        out.push(this.#special(token));
        continue;
      }
      let body: Token[];
      if (macro.parameters === undefined) body = this.#substituted(macro, new Map(), token);
      else {
        if (waiting.at(-1)?.text !== '(') {
          out.push(token);
          continue;
        }
        body = this.#substituted(macro, this.#argumentsOf(macro, token, waiting), token);
      }
      this.#expanded += body.length;
      if (this.#expanded > mostTokens)
        throw errorAt(token, `Macros expand to more than (${mostTokens}) words`, 'ERR_TOO_LARGE');
      for (let i = body.length - 1; i >= 0; i--) waiting.push(body[i]!);
    }
    return out;
  }

  #special(token: Token): Token {
    if (token.kind !== 'word' || !token.text.startsWith('__')) return token;
    if (token.text === '__LINE__') return { ...token, kind: 'number', text: String(token.line) };
    if (token.text === '__FILE__') return { ...token, kind: 'literal', text: quotedName(token.path) };
    if (token.text === '__COUNTER__') return { ...token, kind: 'number', text: String(this.#counter++) };
    return token;
  }

  #argumentsOf(macro: Macro, call: Token, waiting: Token[]): Map<string, Token[]> {
    waiting.pop();
    const all: Token[][] = [[]];
    let depth = 0;
    for (;;) {
      const token = waiting.pop();
      if (token === undefined) throw errorAt(call, `Call of macro (${macro.name}) has no end`, 'ERR_KERNEL_COMPILE');
      if (token.text === ')' && depth === 0) break;
      if (token.text === '(') depth++;
      if (token.text === ')') depth--;
      const isRest = macro.isVariadic && all.length === macro.parameters!.length;
      if (token.text === ',' && depth === 0 && !isRest) all.push([]);
      else all.at(-1)!.push(token);
    }
    const most = macro.parameters!.length;
    if (all.length > Math.max(most, 1) || all.length < most - Number(macro.isVariadic))
      throw errorAt(call, `Macro (${macro.name}) takes (${most}) arguments, not (${all.length})`, 'ERR_KERNEL_COMPILE');
    return new Map(macro.parameters!.map((name, i) => [name, all[i] ?? []]));
  }

  // An argument is expanded by itself, and its own calls have arguments.
  #argument(argument: readonly Token[], call: Token): Token[] {
    if (this.#depth === deepest)
      throw errorAt(call, `Calls of macros are nested more than (${deepest}) deep`, 'ERR_TOO_LARGE');
    this.#depth++;
    const expanded = this.#expand(argument);
    this.#depth--;
    return expanded;
  }

  #substituted(macro: Macro, given: ReadonlyMap<string, Token[]>, call: Token): Token[] {
    const out: Token[] = [];
    const hidden = hiddenWith(call.hidden, macro.name);
    if (hidden.count > longestChain)
      throw errorAt(call, `More than (${longestChain}) macros expand into each other`, 'ERR_TOO_LARGE');
    const { path, line, column, first } = call;
    // What a macro makes stands where it is called.
    const placed = (token: Token): Token => ({
      ...token,
      ...{ path, line, column, first },
      hidden: joined(token.hidden, hidden),
    });
    const { body } = macro;
    for (let at = 0; at < body.length; at++) {
      const token = body[at]!;
      const next = body[at + 1];
      const named = next === undefined ? undefined : given.get(next.text);
      if (token.text === '#' && macro.parameters !== undefined && named !== undefined) {
        const text = named.map((each, i) => (i > 0 && !isGlued(named[i - 1]!, each) ? ' ' : '') + each.text).join('');
        out.push(placed({ ...token, kind: 'literal', text: quotedName(text) }));
        at++;
      } else if (token.text === '##' && next !== undefined) {
        at++;
        const right = named ?? [next];
        if (right.length === 0) {
          // `, ## __VA_ARGS__` without arguments has no comma.
          if (next.text === '__VA_ARGS__' && out.at(-1)?.text === ',') out.pop();
        } else if (out.at(-1)?.text === ',' && named !== undefined) out.push(...right.map(placed));
        else {
          const left = out.pop();
          const pasted = tokensOf((left?.text ?? '') + right[0]!.text, path);
          out.push(...pasted.map(placed), ...right.slice(1).map(placed));
        }
      } else {
        const argument = given.get(token.text);
        if (argument === undefined) out.push(placed(token));
        else if (next?.text === '##') out.push(...argument.map(placed));
        else for (const each of this.#argument(argument, call)) out.push({ ...each, path, line, column, first });
      }
    }
    return out;
  }
}

/** True for a macro that has made the token, which does not expand it again. */
function isHidden(hidden: Hidden | undefined, name: string): boolean {
  for (let at = hidden; at !== undefined; at = at.outer) if (at.name === name) return true;
  return false;
}

function hiddenWith(outer: Hidden | undefined, name: string): Hidden {
  return { name, outer, count: (outer?.count ?? 0) + 1 };
}

function joined(some: Hidden | undefined, others: Hidden): Hidden {
  let all = others;
  for (let at = some; at !== undefined; at = at.outer) if (!isHidden(all, at.name)) all = hiddenWith(all, at.name);
  return all;
}

function isGlued(left: Token, right: Token): boolean {
  return left.line === right.line && left.column + left.text.length === right.column;
}
