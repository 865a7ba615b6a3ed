import type { CompiledKernel } from '../backend.ts';
import { CovariumError, isError } from '../covarium-error.ts';
import type { Values } from '../dtype.ts';
import type { Work } from '../work.ts';
import { runtime } from './javascript-runtime.ts';
import { lengthsOf } from './print-metal.ts';
import type { NumbersInside, Program, ValueType } from './tree.ts';

type Size = readonly number[];

/** What the kernel's text reads of its thread; the printed text takes it apart when the thread begins. */
type ThreadAt = { [place: string]: number };

type Kernel = (...values: unknown[]) => Generator<number, void, void> | undefined;

const mostThreads = 1024;
const mostSharedBytes = 32_768;
/** Threads between two looks at the clock. */
const threadsOfPiece = 64;

const constructors = {
  f32: Float32Array,
  f64: Float64Array,
  i32: Int32Array,
  u32: Uint32Array,
  u8: Uint8Array,
} as const;

/** The printed JavaScript of a program, as a kernel of the reference device. Throws `ERR_UNSUPPORTED`. */
export function javaScriptKernel(program: Program, text: string): CompiledKernel {
  const kernel = kernelOf(program.name, text);
  const sharedBytes = program.shared.reduce(
    (sum, { element, length }) => sum + length * constructors[element].BYTES_PER_ELEMENT,
    0,
  );
  const parameters = Array.from({ length: program.parameters.length + lengthsOf(program).length }, () => ({
    sizeBytes: 0,
    members: [],
  }));
  return {
    threadExecutionWidth: 32,
    maxTotalThreadsPerThreadgroup: mostThreads,
    staticThreadgroupMemoryBytes: sharedBytes,
    maxThreadgroupMemoryBytes: mostSharedBytes,
    parameters,
    begin(operands, grid, threadgroup) {
      const threads = threadgroup.reduce((product, each) => product * each, 1);
      if (threads > mostThreads)
        throw new CovariumError(
          'ERR_OUT_OF_RANGE',
          `\`threadgroup\` is (${threadgroup.join(', ')}), not of 1 to (${mostThreads}) threads.`,
        );
      if (sharedBytes > mostSharedBytes)
        throw new CovariumError(
          'ERR_OUT_OF_RANGE',
          `Kernel (${program.path}) needs (${sharedBytes}) bytes of threadgroup memory, but there are (${mostSharedBytes}).`,
        );
      const values = program.parameters.map(({ inside }, i) => {
        const operand = operands[i] as ArrayBuffer | Values;
        if (inside.kind === 'variable') return numberIn(operand, inside.type as ValueType);
        // Plain arrays of numbers are copied as bytes.
        return ArrayBuffer.isView(operand) ? operand : new constructors[inside.element](operand);
      });
      return () => work(program, kernel, values, grid, threadgroup);
    },
  };
}

function kernelOf(name: string, text: string): Kernel {
  try {
    // The text is printed from a tree of numbers and names of our own: nothing of the user's gets here as it is.
    return new Function('runtime', `${text}//# sourceURL=covarium-kernel/${name}.js`)(runtime) as Kernel;
  } catch (cause) {
    if (!isError(cause) || cause.name !== 'EvalError') throw cause;
    throw new CovariumError(
      'ERR_UNSUPPORTED',
      `Kernels run on the reference device as JavaScript that is made here, which this process forbids (${cause.message}).`,
      { cause },
    );
  }
}

// A number is copied as bytes; one of 64 bits comes as an array.
function numberIn(operand: ArrayBuffer | Values, type: ValueType): number {
  if (ArrayBuffer.isView(operand)) return operand[0]!;
  return new constructors[type as 'f32' | 'f64' | 'i32' | 'u32'](operand)[0]!;
}

function* work(program: Program, kernel: Kernel, values: readonly unknown[], grid: Size, threadgroup: Size): Work {
  const shared = program.shared.map(({ element, length }: NumbersInside) => new constructors[element](length));
  const thread: ThreadAt = {};
  const all = [...values, ...shared, thread];
  [thread['width'], thread['height'], thread['depth']] = grid as [number, number, number];
  const [sizeX, sizeY, sizeZ] = threadgroup as [number, number, number];
  let begun = 0;
  for (let groupZ = 0; groupZ * sizeZ < thread['depth']!; groupZ++)
    for (let groupY = 0; groupY * sizeY < thread['height']!; groupY++)
      for (let groupX = 0; groupX * sizeX < thread['width']!; groupX++) {
        Object.assign(thread, { groupX, groupY, groupZ });
        thread['groupWidth'] = Math.min(sizeX, thread['width']! - groupX * sizeX);
        thread['groupHeight'] = Math.min(sizeY, thread['height']! - groupY * sizeY);
        thread['groupDepth'] = Math.min(sizeZ, thread['depth']! - groupZ * sizeZ);
        const waiting: { readonly threads: Generator<number, void, void>; at: number }[] = [];
        let ended = 0;
        for (let z = 0; z < thread['groupDepth']!; z++)
          for (let y = 0; y < thread['groupHeight']!; y++)
            for (let x = 0; x < thread['groupWidth']!; x++) {
              thread['localX'] = x;
              thread['localY'] = y;
              thread['localZ'] = z;
              thread['x'] = groupX * sizeX + x;
              thread['y'] = groupY * sizeY + y;
              thread['z'] = groupZ * sizeZ + z;
              const running = kernel(...all);
              if (running !== undefined) {
                const { done, value } = running.next();
                if (done) ended += 1;
                else waiting.push({ threads: running, at: value as number });
              }
              begun += 1;
              if (begun % threadsOfPiece === 0) yield;
            }
        yield* fromBarrierToBarrier(program.path, waiting, ended);
      }
}

/** Lets all threads of a group go on from one barrier to the next, until they end. */
function* fromBarrierToBarrier(
  name: string,
  waiting: readonly { readonly threads: Generator<number, void, void>; at: number }[],
  endedBefore: number,
): Work {
  let ended = endedBefore;
  while (waiting.length > 0) {
    const apart = waiting.find(({ at }) => at !== waiting[0]!.at);
    if (ended > 0 || apart !== undefined) {
      const line = waiting[0]!.at;
      const others = apart === undefined ? 'others have ended' : `others wait at line (${apart.at})`;
      throw new CovariumError(
        'ERR_KERNEL_CHECK',
        `Some threads of a group wait at the barrier of line (${line}) of kernel (${name}), and ${others}.`,
        { path: name, line },
      );
    }
    let count = 0;
    for (const each of waiting) {
      const { done, value } = each.threads.next();
      if (done) ended += 1;
      else each.at = value as number;
      count += 1;
      if (count % threadsOfPiece === 0) yield;
    }
    if (ended === waiting.length) return;
  }
}
