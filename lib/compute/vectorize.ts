import type { OpenBackend } from '../backend-handle.ts';
import { checkOptions, wrongArgument } from '../check.ts';
import { compileParsed, nameFor } from './compile-compute.ts';
import type { ComputeKernel } from './compute-kernel.ts';
import { type Descriptor, i32, input, output, requireScalar, type Scalar, type ScalarName } from './descriptor.ts';
import { givenFunction, withResult } from './numbers-function.ts';
import { type Parsed, parsedStatements } from './parse.ts';
import { Vectorized, type VectorizeOptions } from './vectorized.ts';

/** Makes a {@link Vectorized}; see `Device.vectorize`. */
export async function vectorize<N extends ScalarName>(
  device: OpenBackend,
  types: readonly Scalar[],
  result: Scalar<N>,
  text: (...values: number[]) => number | boolean,
  options: VectorizeOptions,
): Promise<Vectorized<N>> {
  checkOptions(options, ['name', 'uses']);
  if (!Array.isArray(types) || types.length === 0 || types.length > 7)
    throw wrongArgument('`types`', types, 'an array of 1 to 7 number types');
  for (const [i, type] of types.entries()) requireScalar(`\`types[${i}]\``, type);
  requireScalar('`result`', result);
  const name = nameFor(options.name, text, 'vectorized');
  return vectorizeParsed(device, types, result, givenFunction(text, types.length, 'text', options.name), {
    ...{ name, uses: options.uses },
  });
}

/** {@link vectorize} of a function that is parsed. */
export async function vectorizeParsed<N extends ScalarName>(
  device: OpenBackend,
  types: readonly Scalar[],
  result: Scalar<N>,
  text: Parsed,
  { name, uses }: VectorizeOptions & { readonly name: string },
): Promise<Vectorized<N>> {
  const names = types.map((_, i) => `values${i}`);
  const descriptor: { [name: string]: Descriptor[string] } = { out: output(result), flat: i32 };
  types.forEach((type, i) => {
    descriptor[`values${i}`] = input(type);
    for (const axis of ['x', 'y', 'z']) descriptor[`values${i}${axis}`] = i32;
  });
  const own = ownName(name, names);
  const call = (index: (each: string) => string) =>
    `${own}(${names.map((each) => `${each}[${index(each)}]`).join(', ')})`;
  const body = `if (flat !== 0) {
  out[x] = ${call(() => 'x')};
} else {
  out[(z * height + y) * width + x] = ${call((each) => `z * ${each}z + y * ${each}y + x * ${each}x`)};
}`;
  const statements = parsedStatements(
    name,
    [`{ ${Object.keys(descriptor).join(', ')} }`, '{ x, y, z, width, height }'],
    body,
  );
  const functions = new Map([[own, withResult(text, result)]]);
  const kernel = await compileParsed(device, descriptor, statements, { name, uses, functions });
  return new Vectorized(device, kernel as unknown as ComputeKernel, types, result);
}

/** A name for the user's function in a text of ours, where `taken` have other meanings. */
export function ownName(name: string, taken: readonly string[]): string {
  const others = [...taken, 'out', 'flat', 'x', 'y', 'z', 'width', 'height', 'Math', 'f32', 'f64', 'i32', 'u32', 'u8'];
  return others.includes(name) || others.some((each) => name.startsWith(each) && name.length === each.length + 1)
    ? `${name}Of`
    : name;
}
