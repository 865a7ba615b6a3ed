import type { OpenBackend } from '../backend-handle.ts';
import { checkOptions, wrongArgument } from '../check.ts';
import { CovariumError } from '../covarium-error.ts';
import { compileParsed, nameFor } from './compile-compute.ts';
import type { ComputeKernel } from './compute-kernel.ts';
import type { Uses } from './compute-options.ts';
import { type Descriptor, i32, input, output, requireScalar, type Scalar, variableTypes } from './descriptor.ts';
import { givenFunction, withResult } from './numbers-function.ts';
import { type Parsed, parsedStatements } from './parse.ts';
import { chunk, lanes, type ReduceOptions, Reduction, requireIdentity } from './reduction.ts';
import { ownName } from './vectorize.ts';

/** Makes a {@link Reduction}; see `Device.reduce`. */
export async function reduce(
  device: OpenBackend,
  type: Scalar,
  combine: (a: number, b: number) => number,
  identity: number,
  options: ReduceOptions,
): Promise<Reduction> {
  checkOptions(options, ['map', 'from', 'name', 'uses']);
  const { map, from = [type], uses } = options;
  requireScalar('`type`', type, variableTypes);
  if (!Array.isArray(from) || from.length === 0 || from.length > 16)
    throw wrongArgument('`from`', from, 'an array of 1 to 16 number types');
  for (const [i, each] of from.entries()) requireScalar(`\`from[${i}]\``, each);
  if (map === undefined && (from.length !== 1 || from[0] !== type))
    throw new CovariumError(
      'ERR_INVALID_ARGUMENT',
      `\`from\` has (${from.length}) types, but \`map\` is missing, which says what becomes of the elements.`,
    );
  requireIdentity(identity);
  const name = nameFor(options.name, combine, 'reduction');
  const parsed = givenFunction(combine, 2, 'combine', options.name, 'give it in `uses`');
  const parsedMap = map === undefined ? undefined : givenFunction(map, from.length, 'map');
  return reduceParsed(device, type, parsed, identity, { name, from, map: parsedMap, uses });
}

/** {@link reduce} of functions that are parsed. */
export async function reduceParsed(
  device: OpenBackend,
  type: Scalar,
  combine: Parsed,
  identity: number,
  how: {
    readonly name: string;
    readonly from: readonly Scalar[];
    readonly map: Parsed | undefined;
    readonly uses: Uses | undefined;
  },
): Promise<Reduction> {
  const { name, from, map, uses } = how;
  requireIdentity(identity, type);
  const combined = withResult(combine, type);
  const kernelFor = (types: readonly Scalar[], mapped: boolean) =>
    passKernel(device, name, type, types, combined, mapped ? map : undefined, uses);
  const next = kernelFor([type], false);
  const first = map === undefined ? next : kernelFor(from, true);
  const [a, b] = await Promise.all([first, next]);
  return new Reduction(device, a, b, type, from.length, identity);
}

async function passKernel(
  device: OpenBackend,
  name: string,
  type: Scalar,
  from: readonly Scalar[],
  combine: Parsed,
  map: Parsed | undefined,
  uses: Uses | undefined,
): Promise<ComputeKernel> {
  const names = from.map((_, i) => `values${i}`);
  const descriptor: { [name: string]: Descriptor[string] } = { out: output(type), n: i32, last: i32, identity: type };
  from.forEach((each, i) => {
    descriptor[`values${i}`] = input(each);
  });
  const own = ownName(name, [...names, 'n', 'last', 'identity', 'rows', 'row', 'at', 'first', 'end', 'all', 'array']);
  const mapName = `${own}Map`;
  const value = (at: string) => {
    const elements = names.map((each) => `${each}[${at}]`).join(', ');
    return map === undefined ? elements : `${mapName}(${elements})`;
  };
  const { scalar } = type;
  const body = `if (last !== 0) {
  let all = identity;
  for (let at = 0; at < n; at++) all = ${own}(all, ${value('at')});
  out[0] = all;
} else {
  const rows = array(${scalar}, ${lanes});
  for (let row = 0; row < ${lanes}; row++) rows[row] = identity;
  const first = x * ${chunk};
  const count = Math.min(${chunk}, n - first);
  const end = first + (count & -${lanes});
  for (let at = first; at < end; at += ${lanes}) {
    for (let row = 0; row < ${lanes}; row++) rows[row] = ${own}(rows[row], ${value('at + row')});
  }
  for (let row = 0; row < (count & ${lanes - 1}); row++) rows[row] = ${own}(rows[row], ${value('end + row')});
  for (let row = 0; row < ${lanes}; row++) out[x * ${lanes} + row] = rows[row];
}`;
  const statements = parsedStatements(name, [`{ ${Object.keys(descriptor).join(', ')} }`, '{ x, array }'], body);
  const functions = new Map([[own, combine]]);
  if (map !== undefined) functions.set(mapName, withResult(map, undefined));
  return (await compileParsed(device, descriptor, statements, { name, uses, functions })) as unknown as ComputeKernel;
}
