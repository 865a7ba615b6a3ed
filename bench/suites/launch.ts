import { CovariumError, type Device, type Kernel } from '../../lib/index.ts';
import type { Problem } from '../contender.ts';
import { LeftOut } from '../left-out.ts';
import { type LaidOut, partsOf, type Suite } from '../suite.ts';

const launches = 1000;

/** How often a commit of a case launches its kernel. */
const repeatsOf: Readonly<Record<string, number>> = {
  alone: 1,
  'one of 1,000 in a commit': launches,
  'empty kernel, alone': 1,
  'empty kernel, one of 1,000 in a commit': launches,
};

/** A kernel of ours: one thread copies one number. */
function ours(device: Device, repeats: number, problem: Problem): LaidOut {
  const [from, to] = [device.vector(1), device.vector(1)];
  const { from: number } = problem.inputs();
  from.data.set(number!);
  const shape = Uint32Array.of(1, 1);
  const one = [1, 1, 1];
  return {
    run: () => {
      const commands = device.commandBuffer();
      for (let i = 0; i < repeats; ++i) commands.launch('copy_lower', [from, to, shape], one, one);
      return partsOf(commands.commitSync());
    },
    repeats,
    result: () => to.data as Float32Array,
    close: () => {
      from.close();
      to.close();
    },
  };
}

/** A user's kernel, launched as users do, with the checks of grid and arguments. */
async function users(device: Device, repeats: number): Promise<LaidOut> {
  const kernel = await emptyKernel(device);
  const once = { grid: 1, arguments: {} };
  const run = () => {
    const commands = device.commandBuffer();
    for (let i = 0; i < repeats; ++i) commands.launch(kernel, once);
    return partsOf(commands.commitSync());
  };
  return { run, repeats, close: () => {} };
}

async function emptyKernel(device: Device): Promise<Kernel> {
  try {
    return await device.kernel('kernel void empty() {}');
  } catch (error) {
    if (error instanceof CovariumError && error.code === 'ERR_NO_COMPILER') throw new LeftOut(error.message);
    throw error;
  }
}

/** The cost of launching a kernel that does nothing, or next to nothing: alone in a commit, and as one of 1,000. */
export const launch: Suite = {
  name: 'launch',
  problems: () =>
    Object.keys(repeatsOf).map(
      (name): Problem => ({
        suite: 'launch',
        case: name,
        dtype: null,
        dimension: null,
        count: null,
        work: { flops: 0, bytes: 0, normals: 0 },
        inputs: () => ({ from: Float32Array.of(42) }),
        tolerance: 0,
      }),
    ),
  layOut: (problem, device) => {
    // Plain TypeScript has no kernels.
    if (device.kind === 'reference') return undefined;
    const layOut = problem.case.startsWith('empty kernel') ? users : ours;
    return layOut(device, repeatsOf[problem.case]!, problem);
  },
};
