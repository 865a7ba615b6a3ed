import { type Device, Matrix, Vector } from '../../lib/index.ts';
import { Choice, OwnError } from './hostile-calls.ts';

// Types of ES2024, which our TypeScript library does not declare.
type Resizable = ArrayBuffer & { resize(bytes: number): void };
const resizable = (bytes: number) =>
  new (ArrayBuffer as unknown as new (bytes: number, options: { maxByteLength: number }) => Resizable)(bytes, {
    maxByteLength: 2 * bytes + 8,
  });

/** Chooses among values that do something when they are read. */
export class Hostile extends Choice {
  /** The device of the call, which some getters close. */
  device: Device | undefined;

  /** n numbers, in any form. */
  numbers(n: number): unknown {
    const plain = Array.from({ length: n }, () => (this.below(20) === 0 ? this.number() : this.tame()));
    const make = this.of<() => unknown>(
      () => plain,
      () => plain,
      () => plain,
      () => Float64Array.from(plain),
      () => Float32Array.from(plain),
      () => plain.map((value) => (value < 0 ? -0 : value)),
      () => new Array(n),
      () => Object.freeze(plain),
      () => new Proxy(plain, {}),
      () => this.proxy(plain),
      () => this.withGetter(plain),
      () => this.withGetter(plain),
      () => this.memory(plain),
      () => this.memory(plain),
      () => this.strided(plain),
      () => ({ ...plain, length: n }),
      () => class Numbers extends Array {}.from(plain),
      () => Object.assign([...plain], { length: this.below(20) === 0 ? 2 ** 32 - 1 : this.of(0, n, n + 1) }),
      () => this.closed(plain),
      () => new Set(plain),
      () => plain.map(String),
      () => plain.map((value) => ({ valueOf: () => value })),
      () => this.masked(plain),
      () => this.odd(),
    );
    return make();
  }

  override rows(n: number, count: number = this.below(4)): unknown {
    const rows = Array.from({ length: count }, () => (this.below(3) === 0 ? this.numbers(n) : this.tames(n)));
    const make = this.of<() => unknown>(
      () => rows,
      () => rows,
      () => rows,
      () =>
        Matrix.from(
          Float64Array.from({ length: n * count }, () => this.tame()),
          { columns: n },
        ),
      () => this.proxy(rows),
      () => this.withGetter(rows),
      () => this.numbers(n * count),
      () => this.closed(this.tames(n * count), n),
      () =>
        Object.fromEntries(
          Array.from({ length: n }, (_, i) => [this.of('a', '__proto__', `x${i}`), this.numbers(count)]),
        ),
      () =>
        JSON.parse(`{ "__proto__": ${JSON.stringify(this.tames(count))}, "b": ${JSON.stringify(this.tames(count))} }`),
      () => rows.map((row) => ({ ...(row as object) })),
      () => this.table(n, count),
      () => {
        const cyclic: unknown[] = [...rows];
        cyclic[0] = cyclic;
        return cyclic;
      },
    );
    return make();
  }

  tames(n: number): number[] {
    return Array.from({ length: n }, () => this.tame());
  }

  square(n: number): unknown {
    return this.below(3) === 0 ? this.rows(n, n) : this.covariance(n);
  }

  override options(names: readonly string[], value: () => unknown = () => this.value()): object {
    const some = Object.fromEntries(names.filter(() => this.below(3) === 0).map((name) => [name, value()]));
    const make = this.of<() => unknown>(
      () => some,
      () => some,
      () => some,
      () => Object.create(some),
      () => Object.assign(Object.create(null), some),
      () => new Proxy(some, {}),
      () => this.proxy(some),
      () => this.withGetter(some),
      () => Object.freeze(some),
      () => JSON.parse(`{ "__proto__": { "${names[0] ?? 'x'}": 1 } }`),
      () => ({ ...some, [Symbol('x')]: 1 }),
      () => this.odd(),
    );
    return make() as object;
  }

  /** A value of an option. */
  value(): unknown {
    return this.of(0, 1, -0, 2 ** 32, 1n, this.number(), this.odd(), this.masked([]), this.numbers(2), true, false);
  }

  private proxy(target: object): unknown {
    const own = (): never => {
      throw new OwnError('own');
    };
    const traps = this.of<ProxyHandler<object>>(
      { get: own },
      { get: (of, name, receiver) => (/^\d/.test(String(name)) ? own() : Reflect.get(of, name, receiver)) },
      { ownKeys: own, has: own },
      { getPrototypeOf: own },
      { getOwnPropertyDescriptor: own, has: () => true },
      { get: (of, name, receiver) => (name === 'length' ? 3 : Reflect.get(of, name, receiver)) },
      { get: (of, name, receiver) => (name === 'constructor' ? own() : Reflect.get(of, name, receiver)) },
    );
    if (this.below(4) > 0) return new Proxy(target, traps);
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    return proxy;
  }

  private withGetter(target: object): object {
    const copy = (Array.isArray(target) ? [...target] : { ...target }) as Record<string, unknown> & unknown[];
    const names = Object.keys(copy);
    if (names.length === 0) return copy;
    const name = names[this.below(names.length)]!;
    const value = copy[name];
    const act = this.of<() => void>(
      () => {},
      () => this.device?.close(),
      () => {
        throw new OwnError('own');
      },
      () => {
        if (Array.isArray(copy)) copy.length = 0;
      },
      () => {
        if (Array.isArray(copy)) copy.push(value);
      },
      () => {
        delete copy[name];
      },
    );
    Object.defineProperty(copy, name, {
      enumerable: true,
      configurable: true,
      get: () => {
        act();
        return value;
      },
    });
    return copy;
  }

  /** A typed array over unusual memory. */
  private memory(plain: readonly number[]): unknown {
    const bytes = 8 * plain.length;
    const filled = (memory: ArrayBufferLike, offset = 0) => {
      const values = new Float64Array(memory, offset, plain.length);
      values.set(plain);
      return values;
    };
    const make = this.of<() => unknown>(
      () => filled(resizable(bytes)),
      () => {
        const memory = resizable(bytes);
        const values = new Float64Array(memory);
        values.set(plain);
        memory.resize(8 * this.below(plain.length + 2));
        return values;
      },
      () => filled(new SharedArrayBuffer(bytes)),
      () => filled(new ArrayBuffer(bytes + 8), 8),
      () => {
        const values = filled(new ArrayBuffer(bytes));
        structuredClone(null, { transfer: [values.buffer as ArrayBuffer] });
        return values;
      },
      () => new Uint8Array(new Uint8Array(plain.length + 3).buffer, 3),
      () => Buffer.alloc(plain.length),
      () => Int32Array.from(plain),
      () => new Uint8ClampedArray(plain.length),
      () => new BigInt64Array(plain.length),
      () => new DataView(new ArrayBuffer(bytes)),
      () =>
        Object.setPrototypeOf(
          Float64Array.from(plain),
          this.of<object | null>(null, Array.prototype, Float32Array.prototype),
        ),
      () => Object.defineProperty(Float64Array.from(plain), 'length', { value: this.of(0, 2 ** 40, -1) }),
      () =>
        Object.defineProperty(Float64Array.from(plain), 'buffer', {
          value: this.of<unknown>(null, new ArrayBuffer(0), {}),
        }),
    );
    return make();
  }

  private strided(plain: number[]): unknown {
    const odd = () => this.of<unknown>(this.odd(), -1, 0, 0.5, 2 ** 53, 1n);
    const strided: Record<string, unknown> = {
      data: this.of<unknown>(plain, Float64Array.from(plain)),
      shape: [plain.length],
    };
    if (this.below(2) === 0)
      strided[this.of('shape', 'strides', 'stride', 'offset', 'data')] = this.of<unknown>(
        odd(),
        [odd()],
        [odd(), odd()],
      );
    return this.below(3) === 0 ? this.withGetter(strided) : strided;
  }

  private table(n: number, count: number): unknown {
    const fields = Array.from({ length: n }, (_, i) => ({ name: `x${i}` }));
    const column = () =>
      this.of<unknown>(
        { toArray: () => this.numbers(count), length: count },
        { toArray: () => this.odd(), length: count },
        { nullCount: 1, length: this.of(count, 2 ** 33, -1), get: () => this.number() },
        this.odd(),
      );
    return this.of<unknown>(
      { schema: { fields }, getChild: column },
      { schema: { fields: [null, this.odd()] }, getChild: column },
      { columnNames: () => fields.map(({ name }) => name), array: () => this.numbers(count) },
      { columnNames: () => this.odd(), array: () => this.odd() },
    );
  }

  private closed(plain: readonly number[], columns?: number): unknown {
    const values = Float64Array.from(plain);
    const whole = columns === undefined ? Vector.from(values) : Matrix.from(values, { columns });
    if (this.below(2) === 0) whole.close();
    else if (values.length > 0) structuredClone(null, { transfer: [values.buffer] });
    return whole;
  }

  /** Objects that lie about what they are. */
  private masked(plain: readonly number[]): unknown {
    const own = () => {
      throw new OwnError('own');
    };
    return this.of<unknown>(
      { [Symbol.toStringTag]: 'Float64Array', ...plain, length: plain.length },
      { [Symbol.toPrimitive]: own, toString: own, valueOf: own },
      Object.defineProperty({}, 'constructor', { get: own }),
      Object.create({ constructor: { name: 'x'.repeat(1000) } }),
      Object.create({ constructor: { name: Symbol('name') } }),
      Object.assign(() => 0, { [Symbol.toStringTag]: 'AbortSignal' }),
      { [Symbol.toStringTag]: 'AbortSignal', aborted: false },
      Symbol('s'),
      'x'.repeat(10_000),
      '\u001b[2J',
    );
  }
}
